import { useLayoutEffect, useState, type ComponentType, type ReactNode } from 'react'

type Loadable<Props extends object> = ((props: Props) => ReactNode) & { preload: () => void }

interface Substitutes<Props extends object> {
  /** Until the code is there. */
  loading?: (props: Props) => ReactNode
  /** If the code cannot be loaded, which must not take the page down. Without it the error is thrown in rendering. */
  unloaded?: ReactNode
}

/**
 * A component whose code loads where it is first drawn, or earlier with `preload`, after which it shows at once.
 * React's `lazy` would leave what a `Suspense` shows meanwhile for at least 300 ms, even if the code came after ten.
 */
export function loadable<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  { loading: Loading, ...failure }: Substitutes<Props> = {},
): Loadable<Props> {
  let Loaded: ComponentType<Props> | undefined
  let started: Promise<unknown> | undefined
  const loadOnce = (): Promise<unknown> =>
    (started ??= load().then(
      (module) => (Loaded = module.default),
      (error: unknown) => {
        started = undefined
        console.error(error)
        throw error
      },
    ))
  function Part(props: Props): ReactNode {
    const [View, setView] = useState(() => Loaded)
    const [failed, setFailed] = useState(false)
    useLayoutEffect(() => {
      if (View) return
      loadOnce().then(
        () => setView(() => Loaded),
        () => setFailed(true),
      )
    }, [View])
    if (View) return <View {...props} />
    if (!failed) return Loading && <Loading {...props} />
    if (!('unloaded' in failure)) throw new Error('The code of a part of the page could not be loaded.')
    return failure.unloaded
  }
  return Object.assign(Part, { preload: () => void loadOnce().catch(() => {}) })
}
