import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { MAX_EARLIER_VERSIONS } from '#contract/message.ts'
import { VersionSteps } from './version-steps.tsx'

const canStepBack = (version: number, newest: number) =>
  !/aria-label="Earlier version"[^>]*disabled/.test(
    renderToStaticMarkup(<VersionSteps version={version} newest={newest} onStep={() => undefined} />),
  )

test('leads back to the oldest version that is stored', () => {
  expect([canStepBack(2, 3), canStepBack(1, 3)]).toEqual([true, false])
  const newest = MAX_EARLIER_VERSIONS + 10
  expect([canStepBack(11, newest), canStepBack(10, newest)]).toEqual([true, false])
})
