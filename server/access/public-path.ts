/** The path of the public address, when Alcove shares its host with other programs. */

/** Empty, or for example "/alcove". */
export const basePathOf = (address: string): string => new URL(address).pathname.replace(/\/+$/, '')

/** Browsers send a cookie of "/" to every path, so that each path below a host has its own names. */
export const cookieNameOf = (name: string, address: string): string =>
  `${name}${basePathOf(address).replaceAll('/', '.')}`

/** Whether the address is that of the path or below it. */
export function isBelow(basePath: string, { pathname }: Pick<URL, 'pathname'>): boolean {
  return pathname === basePath || pathname.startsWith(`${basePath}/`)
}

/** The target of a request without the path: some proxies remove it, others pass it on. */
export function withoutBasePath(target: string, basePath: string): string {
  return basePath !== '' && target.startsWith(`${basePath}/`) ? target.slice(basePath.length) : target
}

/** Whether the target is the path without its final slash, from which relative addresses would lead astray. */
export const isBarePath = (target: string, basePath: string): boolean =>
  basePath !== '' && target.replace(/\?.*$/s, '') === basePath
