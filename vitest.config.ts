import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{contract,server,web,scripts}/**/*.test.{ts,tsx}'],
          exclude: ['**/*.db.test.ts', '**/node_modules/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['{server,test}/**/*.db.test.ts'],
          globalSetup: ['./test/postgres.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['{e2e,test}/**/*.spec.ts'],
          globalSetup: ['./test/postgres.ts'],
          testTimeout: 90_000,
          expect: { poll: { timeout: 10_000 } },
          // A real browser on a busy machine: what fails twice is wrong.
          retry: 1,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
