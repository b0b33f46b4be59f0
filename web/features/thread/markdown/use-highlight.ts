import { startTransition, useEffect, useReducer } from 'react'
import { askForRuns, knownRuns, type CodeRun } from './highlight.ts'

/** The coloured parts of finished code; null while unknown, and where there are none. */
export function useHighlight(code: string, language: string, finished: boolean): readonly CodeRun[] | null {
  const [, drawAgain] = useReducer((times: number) => times + 1, 0)
  const wanted = finished && language !== ''
  const runs = wanted ? knownRuns(code, language) : null
  const isUnknown = runs === undefined
  useEffect(() => {
    if (!isUnknown) return
    // A transition: the many elements of a long program must not block input.
    return askForRuns(code, language, () => startTransition(drawAgain))
  }, [isUnknown, code, language])
  return runs ?? null
}
