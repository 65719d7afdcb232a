"""From a report to text and JSON; pure."""
