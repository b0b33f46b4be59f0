/** Where a mail link may lead in the end. A token goes there in the fragment, so a loose rule hands accounts away. */
import { isIP } from 'node:net'
import { isLoopbackAddress } from '#server/access/client-address.ts'
import { type AuthSettings } from './service.ts'

/** `*` stands for anything within one label or folder, `**` for anything at all. */
function patternOf(allowed: string): RegExp {
  const source = allowed
    .split(/(\*\*|\*)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^./]*' : part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')))
    .join('')
  return new RegExp(`^${source}$`, 'i')
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')
const isLoopback = (url: URL): boolean => hostOf(url) === 'localhost' || isLoopbackAddress(hostOf(url))

function isAllowed(target: URL, { siteUrl, redirectAllowList }: AuthSettings): boolean {
  if (target.username !== '' || target.password !== '') return false
  const site = new URL(siteUrl)
  if (target.protocol === site.protocol) {
    if (target.host === site.host) return true
    if (isLoopback(target) && isLoopback(site)) return true
  }
  if (isIP(hostOf(target)) !== 0 && !isLoopback(target)) return false
  // Compared as the URL parser wrote it, so that no other spelling of a host gets past.
  const plain = `${target.protocol}//${target.host}${target.pathname}`
  return redirectAllowList.some((allowed) => patternOf(allowed).test(plain))
}

/** The asked-for address where it is on our site or on the allow-list; otherwise, silently, the site itself. */
export function chooseRedirect(asked: string | undefined, settings: AuthSettings): URL {
  // Browsers drop tabs and read back-slashes as slashes; who writes them means to deceive somebody.
  if (asked === undefined || /[\\\s]/.test(asked) || !URL.canParse(asked)) return new URL(settings.siteUrl)
  const target = new URL(asked)
  return isAllowed(target, settings) ? target : new URL(settings.siteUrl)
}
