/** Whether the text of a link misleads about where it leads. */
import { withoutAddresses } from '#contract/written-addresses.ts'
import { shownHosts } from './known-addresses.ts'

const INVISIBLE = /\p{Cf}/gu
const IDEOGRAPHIC_STOP = /(?<=[a-z\d-])\u3002(?=[a-z\d-])/gi
const USER_INFORMATION = /:\/\/[^\s/]{0,300}@/
/** A scheme other than http, and punctuation. */
const START_OF_WORD = /^(?:[a-z][a-z\d+.-]{0,30}:)?[^\p{L}\p{N}]+/iu

/** As browsers read it in an address: full-width letters and stops are plain ones, invisible characters are left out. */
const asInAddress = (text: string): string =>
  text.normalize('NFKC').replace(INVISIBLE, '').replace(IDEOGRAPHIC_STOP, '.')

const hostOf = ({ protocol, host, pathname }: URL): string =>
  protocol === 'mailto:' ? pathname.slice(pathname.lastIndexOf('@') + 1).toLowerCase() : host

const withoutWww = (host: string): string => host.replace(/^www\./, '')

/** True if a word of the text looks like another host than that of the address, or has user information. */
export function namesOtherHost(text: string, url: URL): boolean {
  const shown = asInAddress(text)
  if (USER_INFORMATION.test(shown)) return true
  const words = withoutAddresses(shown)
    .split(/[\s<>"'`|()[\]{},;]+/)
    .map((word) => word.replace(START_OF_WORD, ''))
  const target = withoutWww(hostOf(url))
  return [shown, words.join(' ')].flatMap(shownHosts).some((host) => withoutWww(host) !== target)
}
