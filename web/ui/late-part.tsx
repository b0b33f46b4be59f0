import { lazy, type ComponentType, type JSX, type LazyExoticComponent } from 'react'

/**
 * A part of the page whose code loads where it is first drawn, since few people need it; draw it in a `Suspense`.
 * @param unloaded the sentence in its place if the code cannot be loaded, which must not take the page down
 */
export const latePart = <Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  unloaded: string,
): LazyExoticComponent<ComponentType<Props>> =>
  lazy(() =>
    load().catch((error: unknown) => {
      console.error(error)
      return { default: (): JSX.Element => <p role="alert">{unloaded}</p> }
    }),
  )
