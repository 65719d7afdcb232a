"""Well-known files by their names: data for ``paths``, as gitignore patterns.

A name without a slash counts at any level of the tree, as pytest, Python and
the agents' tools look for it in any folder that they are started in.

Left out on purpose: ``.gitmodules`` (no submodule is ever fetched; a moved
gitlink has a guard of its own), ``noxfile.py`` and ``Makefile`` unless the
policy's command runs nox or make, and agents' ordinary instructions such as
``CLAUDE.md``.
"""

from __future__ import annotations

# Read by pytest, coverage or the interpreter's start, whichever product is under test.
# *.egg-info and *.dist-info can register pytest plugins from the tree by entry points.
TEST_CONFIG = (
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    ".coveragerc",
    ".coveragerc.toml",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    "pyvenv.cfg",
    "**/conda-meta/history",
    "**/*.egg-info/**",
    "**/*.dist-info/**",
)

# Both source and judge: only the judging part counts (see shared_config).
SHARED_CONFIG = ("pyproject.toml", "setup.cfg", "tox.ini")

# Never recorded data, though it lies among the tests.
CODE_AND_DOCS = (
    "*.py",
    "*.pyi",
    "*.pyc",
    "*.pyx",
    "Makefile",
    "README",
    "README.*",
    "*.md",
    "*.rst",
    ".gitignore",
    ".gitattributes",
    ".gitkeep",
    "py.typed",
)

JUDGE_FILES = ("/redbucket.toml", "/flakes.toml", "/.redbucket/**")

# What a task runner reads when the policy's command names only the runner.
DEFAULT_FILES = {
    "nox": ("noxfile.py",),
    "tox": ("tox.ini",),
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "inv": ("tasks.py",),
    "invoke": ("tasks.py",),
    "doit": ("dodo.py",),
}

PROTECTED = (
    # hooks of pre-commit and its kin: a patch that empties them merges unseen
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".pre-commit-hooks.yaml",
    ".pre-commit-hooks.yml",
    "/lefthook.yml",
    "/.lefthook.yml",
    "/.husky/**",
    "/.githooks/**",
    "/.overcommit.yml",
    # continuous integration
    "/.github/workflows/**",
    "/.github/actions/**",
    "/.gitea/workflows/**",
    "/.forgejo/workflows/**",
    "/.gitlab-ci.yml",
    "/.gitlab-ci.yaml",
    "/.gitlab/ci/**",
    "/.circleci/**",
    "/azure-pipelines.yml",
    "/azure-pipelines.yaml",
    "/.azure-pipelines/**",
    "/.azuredevops/**",
    "Jenkinsfile",
    "Jenkinsfile.*",
    "/.travis.yml",
    "/bitbucket-pipelines.yml",
    "/.buildkite/**",
    "/buildkite.yml",
    "/.drone.yml",
    "/.drone.star",
    "/.drone.jsonnet",
    "/appveyor.yml",
    "/.appveyor.yml",
    "/.woodpecker.yml",
    "/.woodpecker.yaml",
    "/.woodpecker/**",
    "/.cirrus.yml",
    "/.cirrus.star",
    "/.semaphore/**",
    "/.teamcity/**",
    "/.tekton/**",
    "/.build.yml",
    "/.builds/**",
    "/.zuul.yaml",
    "/.zuul.d/**",
    "/zuul.yaml",
    "/zuul.d/**",
    "/cloudbuild.yaml",
    "/cloudbuild.yml",
    "/buildspec.yml",
    "/buildspec.yaml",
    "/codefresh.yml",
    "/wercker.yml",
    "/bors.toml",
    "/.mergify.yml",
    "/.github/mergify.yml",
    "/.mergify/**",
    # coding agents' hook settings
    "**/.claude/settings*.json",
    "**/.claude/hooks/**",
    "**/.codex/hooks.json",
    "**/.codex/config.toml",
    "**/.codex/hooks/**",
    "**/.cursor/hooks.json",
    "**/.cursor/hooks/**",
    "**/.gemini/settings.json",
    "**/.gemini/hooks/**",
    "/.github/hooks/**",
    # who must review
    "/CODEOWNERS",
    "/docs/CODEOWNERS",
    "/.github/CODEOWNERS",
    "/.gitlab/CODEOWNERS",
)
