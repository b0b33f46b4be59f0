import { use, type JSX, type ReactNode } from 'react'
import { useAnswer } from '#web/features/thread/message/answer-context.tsx'
import { KnownAddressesContext } from '#web/features/thread/message/known-addresses-context.tsx'
import { decodeEntities, safeHref } from '#web/lib/markdown/markdown.ts'
import { mayLink, withSources } from '#web/lib/messages/known-addresses.ts'
import styles from './outer-link.module.css'

/** The address as text. Its host is set apart, since user information or a subdomain can look like another host. */
function AddressText({ url }: { url: URL }): JSX.Element {
  const { href, host, pathname } = url
  const shownHost = host === '' ? pathname.slice(pathname.lastIndexOf('@') + 1) : host
  const start = host === '' ? href.indexOf(shownHost) : href.indexOf(host, href.indexOf('//') + 2 + lengthOfUser(url))
  return (
    <code className={styles.address}>
      {href.slice(0, start)}
      <b className={styles.host}>{shownHost}</b>
      {href.slice(start + shownHost.length)}
    </code>
  )
}

const lengthOfUser = ({ username, password }: URL): number =>
  username === '' && password === '' ? 0 : username.length + (password === '' ? 0 : password.length + 1) + 1

/** Text that looks like an address of another host would mislead, even about a known one. */
function namesOtherHost(text: ReactNode, { host }: URL): boolean {
  if (typeof text !== 'string') return false
  const named = URL.parse(/^https?:/i.test(text) ? text : `http://${text}`)
  return named !== null && /^\S+\.\S+$/.test(text.trim()) && named.host !== host && `www.${named.host}` !== host
}

export function OuterLink({ href, children }: { href: string; children: ReactNode }): ReactNode {
  const { sources } = useAnswer()
  const known = use(KnownAddressesContext)
  const safe = safeHref(href)
  if (safe === null) return children
  const url = new URL(safe)
  if (mayLink(url, withSources(known, sources.values())) && !namesOtherHost(children, url)) {
    return (
      <a href={safe} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    )
  }
  // A bare address has itself as its text, without the protocol that was added.
  const isBare = typeof children === 'string' && decodeEntities(href).endsWith(children)
  if (isBare) return <AddressText url={url} />
  return (
    <>
      {children} (<AddressText url={url} />)
    </>
  )
}
