import path from 'node:path'
import type { TestError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

/** First line of an error, and its place in a test. */
function describeError({ message, stacks = [] }: TestError): string {
  const place = stacks.find(({ file }) => /\.(test|spec)\.tsx?$/.test(file)) ?? stacks[0]
  const where = place === undefined ? '' : ` (${path.basename(place.file)}:${place.line})`
  return `      ${message.split('\n', 1)[0] ?? ''}${where}`
}

/** Names the tests that needed more than one attempt, and what ended each attempt. */
function describeRetries(modules: readonly TestModule[]): string {
  const retried = modules.flatMap((module) =>
    [...module.children.allTests()].flatMap((test): string[][] => {
      const { retryCount = 0 } = test.diagnostic() ?? {}
      if (retryCount === 0) return []
      const errors = test.result().errors ?? []
      return [
        [`   ${module.relativeModuleId} > ${test.fullName} (${retryCount + 1} tries)`, ...errors.map(describeError)],
      ]
    }),
  )
  return [` Retried tests: ${retried.length}`, ...retried.flat()].join('\n')
}

export const retriesReporter: Reporter = {
  onTestRunEnd: (modules) => console.log(`\n${describeRetries(modules)}`),
}
