/** Redirect targets of mail links receive tokens, so a loose rule gives accounts away. */
import { isIP } from 'node:net'
import { basePathOf, isBelow } from '#server/access/public-path.ts'
import { isLoopbackAddress } from '#server/access/client-address.ts'
import type { AuthSettings } from './service.ts'

/** Operators' patterns with several `**` take more than proportional time. Queries are not matched. */
const MAX_MATCHED_CHARACTERS = 1_000

/** `*` matches within one label or folder, `**` matches anything. */
function patternOf(allowed: string): RegExp {
  const source = allowed
    .split(/(\*\*|\*)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^./]*' : part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')))
    .join('')
  return new RegExp(`^${source}$`, 'i')
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')
const isLoopback = (url: URL): boolean => hostOf(url) === 'localhost' || isLoopbackAddress(hostOf(url))

/** The page of the site. */
export const homeOf = ({ siteUrl }: Pick<AuthSettings, 'siteUrl'>): URL => new URL(`${siteUrl}/`)

/** Whether our page is there: below the path of the site, since another program may have the rest of the host. */
export const isOwnPage = (target: URL, { siteUrl }: Pick<AuthSettings, 'siteUrl'>): boolean =>
  target.origin === new URL(siteUrl).origin && isBelow(basePathOf(siteUrl), target)

function isAllowed(target: URL, { siteUrl, redirectAllowList }: AuthSettings): boolean {
  if (target.username !== '' || target.password !== '') return false
  const site = new URL(siteUrl)
  if (target.protocol === site.protocol) {
    const isSameHost = target.host === site.host
    if (isSameHost ? isBelow(basePathOf(siteUrl), target) : isLoopback(target) && isLoopback(site)) return true
  }
  if (isIP(hostOf(target)) !== 0 && !isLoopback(target)) return false
  // Compare the parsed form, so that other spellings of a host do not match.
  const plain = `${target.protocol}//${target.host}${target.pathname}`
  if (plain.length > MAX_MATCHED_CHARACTERS) return false
  return redirectAllowList.some((allowed) => patternOf(allowed).test(plain))
}

/** Falls back to the site. */
export function chooseRedirect(asked: string | undefined, settings: AuthSettings): URL {
  // Browsers drop tabs and read backslashes as slashes.
  if (asked === undefined || /[\\\s]/.test(asked) || !URL.canParse(asked)) return homeOf(settings)
  const target = new URL(asked)
  if (!isAllowed(target, settings)) return homeOf(settings)
  // Our page reads sessions from its fragment: only this service may write one.
  if (isOwnPage(target, settings)) target.hash = ''
  return target
}
