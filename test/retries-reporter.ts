import type { Reporter, TestModule } from 'vitest/node'

/** Names the tests that needed more than one attempt. */
export function describeRetries(modules: readonly TestModule[]): string {
  const retried = modules.flatMap((module) =>
    [...module.children.allTests()].flatMap((test) => {
      const { retryCount = 0 } = test.diagnostic() ?? {}
      return retryCount === 0 ? [] : [`   ${module.relativeModuleId} > ${test.fullName} (${retryCount + 1} tries)`]
    }),
  )
  return [` Retried tests: ${retried.length}`, ...retried].join('\n')
}

export const retriesReporter: Reporter = {
  onTestRunEnd: (modules) => console.log(`\n${describeRetries(modules)}`),
}
