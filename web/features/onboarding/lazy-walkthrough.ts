import { preloadable } from '#web/ui/preloadable.tsx'

export const LazyWalkthrough = preloadable(() => import('./walkthrough.tsx'))
