import { Fragment, useEffect, type ElementType, type JSX, type ReactNode, type Ref } from 'react'

const LOCKED = 'scroll-locked'
let locks = 0

type RemoveScrollProps = {
  as?: ElementType
  enabled?: boolean
  children?: ReactNode
  allowPinchZoom?: boolean
  shards?: unknown
  ref?: Ref<unknown>
}

/** Replaces `react-remove-scroll` (alias in vite.config.ts), whose `<style>` element the CSP blocks. */
export function RemoveScroll({
  as: Element,
  enabled = true,
  children,
  allowPinchZoom: _allowPinchZoom,
  shards: _shards,
  ...rest
}: RemoveScrollProps): JSX.Element {
  useEffect(() => {
    if (!enabled) return
    locks += 1
    document.documentElement.classList.add(LOCKED)
    return () => {
      locks -= 1
      if (locks === 0) document.documentElement.classList.remove(LOCKED)
    }
  }, [enabled])
  return Element === undefined ? <Fragment>{children}</Fragment> : <Element {...rest}>{children}</Element>
}
