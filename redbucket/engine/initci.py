"""What ``init`` proposes for CI: the job that calls the gate."""

from __future__ import annotations

import re
from collections.abc import Iterable

from redbucket.core.dependencies import install_lines
from redbucket.core.sighting import Proposed, Sighting, Source

GITHUB = ".github/workflows/redbucket.yml"
GITLAB = ".gitlab-ci.yml"
GITLAB_PART = ".gitlab/ci/redbucket.yml"
OTHERS = {
    ".circleci/": "CircleCI",
    "azure-pipelines.y": "Azure Pipelines",
    "bitbucket-pipelines.yml": "Bitbucket",
    ".woodpecker": "Woodpecker",
    ".buildkite/": "Buildkite",
    ".drone.yml": "Drone",
    ".travis.yml": "Travis",
    "Jenkinsfile": "Jenkins",
    ".forgejo/workflows/": "Forgejo",
    ".gitea/workflows/": "Gitea",
    ".ci/": "a CI script",
}
_OLDEST = (3, 10)  # Python that redbucket itself needs
_GITHUB_ADDRESS = re.compile(r"(?:https://|ssh://git@|git@)github\.com[/:](?P<name>[^/]+/[^/]+?)(?:\.git)?/?")


def services(seen: Sighting) -> tuple[str, ...]:
    """Return the names of the CI services in use, by their files; by the remote's address where there is none."""
    paths = {*seen.paths, *seen.files}
    found = []
    if any(path.startswith(".github/workflows/") for path in paths):
        found.append("GitHub")
    if GITLAB in paths or ".gitlab-ci.yaml" in paths:
        found.append("GitLab")
    found += [name for sign, name in OTHERS.items() if any(path.startswith(sign) for path in paths)]
    if not found and "github.com" in seen.remote:
        found.append("GitHub")
    elif not found and "gitlab" in seen.remote:
        found.append("GitLab")
    return tuple(dict.fromkeys(found))


def jobs(seen: Sighting) -> list[Proposed]:
    """Return the proposals for the services in use; nothing where a job calls redbucket already."""
    used = services(seen)
    found = []
    if "GitHub" in used and not _called(seen, ".github/workflows/"):
        found.append(_new_or_kept(seen, GITHUB, _github(seen)))
    if "GitLab" in used and not _called(seen, GITLAB) and not _called(seen, ".gitlab/ci/"):
        if GITLAB in seen.files or ".gitlab-ci.yaml" in seen.files:
            have = GITLAB if GITLAB in seen.files else ".gitlab-ci.yaml"
            found.append(_new_or_kept(seen, GITLAB_PART, _gitlab(seen)))
            snippet = f"include:\n  - local: {GITLAB_PART}"
            found.append(Proposed("workflow", have, lacks=("it does not include the job",), snippet=snippet))
        else:
            found.append(Proposed("workflow", GITLAB, _gitlab(seen)))
    return found


def _called(seen: Sighting, where: str) -> bool:
    return any(path.startswith(where) and b"redbucket" in raw for path, raw in seen.files.items())


def _new_or_kept(seen: Sighting, path: str, text: str) -> Proposed:
    if path in seen.files:
        return Proposed("workflow", path, lacks=("it does not call redbucket",), snippet=text)
    return Proposed("workflow", path, text)


def _github(seen: Sighting) -> str:
    version = ".".join(seen.python.split(".")[:2]) or "3.x"
    lines = [
        "name: redbucket",
        "on: pull_request",
        "permissions:",
        "  contents: read",
        "jobs:",
        "  gate:",
        "    runs-on: ubuntu-latest",
        "    steps:",
        "      - uses: actions/checkout@v4",
        "        with:",
        "          fetch-depth: 0",
        "          persist-credentials: false",
        "      - uses: actions/setup-python@v5",
        "        with:",
        f'          python-version: "{version}"',
        "      # whatever the tests need",
        *(f"      - run: {line}" for line in install_lines(seen)),
    ]
    named = _GITHUB_ADDRESS.fullmatch(seen.source.address) if seen.source else None
    if named is not None and seen.source is not None:
        lines.append(f"      - uses: {named['name']}@{seen.source.revision}")
        if _own_python(seen) != "python":
            lines += ["        with:", f"          python: {_own_python(seen)}"]
        return "\n".join(lines) + "\n"
    lines += [
        "      - name: Install redbucket in an environment of its own",
        "        env:",
        f"          REDBUCKET_SOURCE: {_source(seen.source, '${{ vars.REDBUCKET_SOURCE }}')}",
        "        run: |",
        f'          {_own_python(seen)} -m venv "$RUNNER_TEMP/redbucket"',
        '          "$RUNNER_TEMP/redbucket/bin/pip" install --quiet "$REDBUCKET_SOURCE"',
        "      - name: Judge",
        "        env:",
        "          BASE: origin/${{ github.base_ref }}",
        "          HEAD: ${{ github.event.pull_request.head.sha }}",
        "          HEAD_REF: ${{ github.head_ref }}",
        "        run: |",
        "          code=0",
        "          redbucket=$RUNNER_TEMP/redbucket/bin/redbucket",
        '          "$redbucket" gate --base="$BASE" --head="$HEAD" --head-ref="$HEAD_REF" \\',
        '            --format json --output "$RUNNER_TEMP/redbucket.json" || code=$?',
        '          if [ -f "$RUNNER_TEMP/redbucket.json" ]; then',
        '            "$redbucket" report "$RUNNER_TEMP/redbucket.json" --format markdown >> "$GITHUB_STEP_SUMMARY"',
        '            "$redbucket" report "$RUNNER_TEMP/redbucket.json" --format github',
        "          fi",
        '          exit "$code"',
    ]
    return "\n".join(lines) + "\n"


def _gitlab(seen: Sighting) -> str:
    version = ".".join(seen.python.split(".")[:2]) or "3"
    # the same image runs redbucket, which needs a newer Python than some projects
    image = version if _own_python(seen) == "python" else "3.12"
    lines = [
        "redbucket:",
        f"  image: python:{image}",
        "  rules:",
        '    - if: $CI_PIPELINE_SOURCE == "merge_request_event"',
        "  variables:",
        "    GIT_DEPTH: 0",
        *([f"    REDBUCKET_SOURCE: {_source(seen.source, '')}"] if seen.source else []),
        "  script:",
        "    # whatever the tests need",
        *(f"    - {line}" for line in install_lines(seen)),
        '    - python3 -m venv "$CI_BUILDS_DIR/redbucket"',
        """    - '"$CI_BUILDS_DIR/redbucket/bin/pip" install --quiet "$REDBUCKET_SOURCE"'""",
        "    - >-",
        '      "$CI_BUILDS_DIR/redbucket/bin/redbucket" gate --format junit --output redbucket.xml',
        '      --base="origin/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME" --head="$CI_COMMIT_SHA"',
        '      --head-ref="$CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"',
        "  artifacts:",
        "    when: always",
        "    reports:",
        "      junit: redbucket.xml",
    ]
    return "\n".join(lines) + "\n"


def _source(source: Source | None, absent: str) -> str:
    return source.requirement if source else absent


def _own_python(seen: Sighting) -> str:
    """Return the interpreter for redbucket's own environment on a runner: the project's may be too old."""
    numbers = tuple(int(part) for part in seen.python.split(".")[:2] if part.isdigit())
    return "python" if not numbers or numbers >= _OLDEST else "/usr/bin/python3"


def needs_source(proposed: Iterable[Proposed]) -> bool:
    """Return whether a new job asks for the variable REDBUCKET_SOURCE."""
    return any(
        each.what == "workflow"
        and "$REDBUCKET_SOURCE" in each.text
        and "REDBUCKET_SOURCE: git+" not in each.text
        for each in proposed
    )
