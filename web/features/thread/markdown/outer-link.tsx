import type { JSX, ReactNode } from 'react'
import { useAnswer } from '#web/features/thread/context/answer-context.tsx'
import { decodeEntities, safeHref } from '#web/lib/markdown/markdown.ts'
import { mayLink } from '#web/lib/messages/known-addresses.ts'
import { namesOtherHost } from '#web/lib/messages/link-text.ts'
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

type OuterLinkProps = {
  href: string
  /** The link's text without formatting. */
  text: string
  children: ReactNode
}

export function OuterLink({ href, text, children }: OuterLinkProps): ReactNode {
  const { addresses } = useAnswer()
  const safe = safeHref(href)
  if (safe === null) return children
  const url = new URL(safe)
  if (mayLink(url, addresses) && !namesOtherHost(text, url)) {
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
