import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'
import { retriesReporter } from './test/retries-reporter.ts'

/** Several servers, or pictures of pages at rest: beside other files they would wait for the processor. */
const NEED_THE_MACHINE = ['e2e/{crash,crash-reading,disconnects,long-conversation,nodes,visual}.spec.ts']

const END_TO_END = {
  globalSetup: ['./test/postgres.ts', './test/started-data.ts'],
  setupFiles: ['./e2e/show-failed-pages.ts'],
  testTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
  // A real browser on a busy machine: what fails three times is wrong.
  retry: 2,
  hookTimeout: 120_000,
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    // On a busy machine one of two thousand may be late: what fails twice is wrong, and the end of the log names what was retried.
    retry: 1,
    reporters: ['default', retriesReporter],
    sequence: { sequencer: LongestFirst },
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{contract,server,web,scripts,bench}/**/*.test.{ts,tsx}'],
          exclude: ['**/*.db.test.ts', '**/node_modules/**'],
          // Whole files are read in processes of their own, which yield to everything else on the machine.
          testTimeout: 240_000,
        },
      },
      {
        extends: true,
        test: {
          // The sandbox as it runs in the product.
          name: 'built-parsers',
          include: ['server/parsing/sandbox/escapes.test.ts'],
          execArgv: ['--conditions=built-parsers'],
        },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['{server,test,bench}/**/*.db.test.ts'],
          globalSetup: ['./test/postgres.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['{e2e,test}/**/*.spec.ts'],
          exclude: NEED_THE_MACHINE,
          // A server and a browser of each file wait for one another half of the time.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          ...END_TO_END,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e-alone',
          include: NEED_THE_MACHINE,
          sequence: { groupOrder: 2 },
          fileParallelism: false,
          ...END_TO_END,
        },
      },
    ],
  },
})
