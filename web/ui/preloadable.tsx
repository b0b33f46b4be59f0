import { lazy, useState, type ComponentType, type JSX } from 'react'

type Preloadable<Props extends object> = ((props: Props) => JSX.Element) & { preload: () => void }

/** A lazy component that shows at once, without the fallback of its `Suspense`, where its code was loaded before. */
export function preloadable<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): Preloadable<Props> {
  let Loaded: ComponentType<Props> | undefined
  let loading: ReturnType<typeof load> | undefined
  const loadOnce = (): ReturnType<typeof load> =>
    (loading ??= load().then(
      (module) => {
        Loaded = module.default
        return module
      },
      (error: unknown) => {
        loading = undefined
        throw error
      },
    ))
  const Lazy = lazy(loadOnce)
  function Part(props: Props): JSX.Element {
    // One choice for as long as it is mounted: another component would lose its state.
    const [View] = useState(() => Loaded ?? Lazy)
    return <View {...props} />
  }
  const preload = (): void => void loadOnce().catch((error: unknown) => console.error(error))
  return Object.assign(Part, { preload })
}
