import { memo, useLayoutEffect, useRef, useSyncExternalStore, type JSX } from 'react'
import type { MathsToken } from '#web/lib/markdown/markdown.ts'
import { classNames } from '#web/ui/class-names.ts'
import styles from './formula.module.css'
import { drawFormula, isReady, onReady } from './typeset.ts'

/** A formula; its source while KaTeX loads and where it cannot be set. */
export const Formula = memo(function Formula({ maths }: { maths: MathsToken }): JSX.Element {
  const { raw, source, display } = maths
  const host = useRef<HTMLSpanElement>(null)
  const ready = useSyncExternalStore(onReady, isReady, isReady)
  useLayoutEffect(() => {
    if (host.current === null) return
    const fault = ready ? drawFormula(host.current, source, display) : null
    if (!ready || fault !== null) host.current.textContent = raw.trim()
    host.current.title = fault ?? ''
  }, [ready, raw, source, display])
  return (
    <span
      ref={host}
      className={classNames(styles.formula, display && styles.display)}
      data-formula={source}
      translate="no"
      {...(display ? { tabIndex: 0, role: 'group', 'aria-label': 'Formula' } : {})}
    />
  )
})
