/** The path of the public address below which the page is served; empty at the root of a host. The server writes it. */
const basePath = typeof document === 'undefined' ? '' : (document.documentElement.dataset['base'] ?? '')

/** For the router. */
export const routerBase = (): string => basePath

/** The address of a path of our own server. */
export const ownPath = (path: string): string => basePath + path

/** The address of a path of our own page, with its origin. */
export const ownAddress = (path: string): string => location.origin + basePath + path

/** The name of something in the browser's stores or locks, which all paths of a host share. */
export const ownName = (name: string): string => (basePath === '' ? name : `${basePath}:${name}`)
