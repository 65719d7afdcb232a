"""What judges in projects of other languages, by name: data for ``paths``, as gitignore patterns.

It counts only where the policy says ``[run] format = "junit"``: a front end's Jest configuration
judges nothing in a project whose tests pytest runs.
"""

from __future__ import annotations

# Where the runners look for tests, besides what [judge] tests names.
_TESTS = """
    **/__tests__/** **/__mocks__/** /spec/** /e2e/** /cypress/** /t/**
    *.test.* *.spec.* *.cy.* *-test.js *-test.mjs *-test.cjs *-test.ts *_test.js *_test.mjs *_test.cjs *_test.ts
    test.js test.mjs test.cjs test-*.js test-*.mjs test-*.cjs
    *_test.go **/testdata/**
    **/src/test/** **/src/*Test/** **/src/it/**
    *Test.java *Tests.java *TestCase.java *IT.java *Test.kt *Tests.kt *Spec.kt *Spec.groovy
    *Test.scala *Spec.scala *Suite.scala
    **/tests.rs *_test.rs **/benches/**
    *Test.php *Cest.php *.phpt
    *_test.rb *_spec.rb *_test.exs *_test.dart *Test.cs *Tests.cs *Tests.fs *Tests.swift
    *_test.c *_test.cc *_test.cpp *_unittest.cc *Test.cpp *.bats
"""

# Configures or starts a runner, decides what its tests are compiled to, or is a build file by whose code they run:
# JavaScript and TypeScript; the JVM; Rust and Go; PHP, Ruby, .NET and C.
_CONFIG = """
    jest.config.* jest.setup.* jest-*.config.* jest.preset.* setupTests.* setup-tests.*
    vitest.config.* vitest.workspace.* vitest.setup.* vite.config.* .mocharc.* mocha.opts ava.config.*
    karma.conf.* playwright.config.* cypress.config.* jasmine.json .jasmine.json wdio.conf.*
    .nycrc .nycrc.* nyc.config.* .c8rc .c8rc.json .taprc web-test-runner.config.*
    babel.config.* .babelrc .babelrc.* .swcrc tsconfig.json tsconfig.*.json
    .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnp.* **/.yarn/releases/** **/.yarn/plugins/**
    bunfig.toml deno.json deno.jsonc import_map.json .node-version .nvmrc **/node_modules/**

    pom.xml **/.mvn/** mvnw mvnw.cmd junit-platform.properties
    build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties
    init.gradle init.gradle.kts gradlew gradlew.bat **/gradle/wrapper/** **/buildSrc/** build.sbt

    **/.config/nextest.toml **/.cargo/config **/.cargo/config.toml rust-toolchain rust-toolchain.toml
    go.work go.env /vendor/**

    phpunit.xml phpunit.xml.dist phpunit.dist.xml codeception.yml .rspec .minitest.rb
    *.runsettings xunit.runner.json Directory.Build.props Directory.Build.targets
    CTestConfig.cmake CTestCustom.cmake
"""

# Never recorded data, though it lies among the tests.
_CODE = """
    *.js *.mjs *.cjs *.jsx *.ts *.mts *.cts *.tsx *.vue *.svelte *.coffee
    *.go *.rs *.java *.kt *.kts *.groovy *.scala *.clj *.php *.phpt *.rb
    *.ex *.exs *.erl *.dart *.cs *.fs *.swift *.hs *.lua *.pl *.pm *.t
    *.c *.h *.cc *.cpp *.hpp *.m *.mm *.sh *.bash *.bats *.feature
"""

TESTS, CONFIG, CODE = (tuple(names.split()) for names in (_TESTS, _CONFIG, _CODE))

# Both source and judge: only the judging part counts (see foreign_config).
SHARED = ("package.json", "Cargo.toml", "go.mod", "composer.json")
