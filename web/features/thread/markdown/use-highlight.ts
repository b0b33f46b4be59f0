import { startTransition, useEffect, useReducer } from 'react'
import { askForRuns, knownRuns, type CodeRun } from './highlight.ts'

/** The coloured parts of code that is finished; null until they are there, and where there are none. */
export function useHighlight(code: string, language: string, finished: boolean): readonly CodeRun[] | null {
  const [, drawAgain] = useReducer((times: number) => times + 1, 0)
  const wanted = finished && language !== ''
  const runs = wanted ? knownRuns(code, language) : null
  const isUnknown = runs === undefined
  useEffect(() => {
    if (!isUnknown) return
    // A long program is many elements: drawing them gives way to what the reader does.
    return askForRuns(code, language, () => startTransition(drawAgain))
  }, [isUnknown, code, language])
  return runs ?? null
}
