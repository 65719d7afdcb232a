"""A language model through the ``llm`` library: a prompt in, text out. Nothing of it is run here."""

from __future__ import annotations

from collections.abc import Callable

from redbucket.core.errors import Misused, WorldFailed


def ask_with(name: str) -> Callable[[str], str]:
    """Return what sends a prompt to the model ``name``. Raises Misused where llm or the model is not there."""
    try:
        import llm  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise Misused("no-llm", "the llm library is not installed", "pip install 'redbucket[llm]'") from error
    try:
        model = llm.get_model(name)
    except llm.UnknownModelError as error:
        raise Misused("unknown-model", f"llm knows no model {name!r}", "see `llm models`") from error

    def ask(prompt: str) -> str:
        try:
            return str(model.prompt(prompt, stream=False).text())
        except Exception as error:  # each plugin raises its own library's errors
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise WorldFailed(
                "model-failed",
                f"the model {name} did not answer: {reason}",
                "try again, or draft without --model",
            ) from error

    return ask
