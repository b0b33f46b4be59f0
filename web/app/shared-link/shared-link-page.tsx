import { QueryClientProvider, useQuery } from '@tanstack/react-query'
import { useState, type JSX, type ReactNode } from 'react'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import type { SharedConversation } from '#contract/space.ts'
import { usePageTitle } from '#web/app/use-page-title.ts'
import { useAuth } from '#web/data/auth/auth-context.tsx'
import { ownPath } from '#web/data/base-path.ts'
import { HttpError } from '#web/data/client.ts'
import { createQueryClient } from '#web/data/query-client.ts'
import { linkedConversationQuery } from '#web/data/spaces/links.ts'
import { formatDay } from '#web/lib/format/format-day.ts'
import { activeTitle } from '#web/lib/messages/conversation-labels.ts'
import { addressesOfThread, NO_ADDRESSES } from '#web/lib/messages/known-addresses.ts'
import { Button } from '#web/ui/button.tsx'
import { Logo } from '#web/ui/logo.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import { TooltipProvider } from '#web/ui/tooltip.tsx'
import { LinkedMessage } from './linked-message.tsx'
import styles from './shared-link-page.module.css'

/** The page of a link: a conversation with the passages that it cites, to be read. */
export default function SharedLinkPage({ token }: { token: string }): JSX.Element {
  const [queryClient] = useState(createQueryClient)
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <div className={styles.page}>
          <div className={styles.content}>
            <header>
              <a className={styles.home} href={ownPath('/')}>
                <Logo size={22} /> {PRODUCT_NAME}
              </a>
            </header>
            <Linked token={token} />
          </div>
        </div>
      </TooltipProvider>
    </QueryClientProvider>
  )
}

function Linked({ token }: { token: string }): JSX.Element {
  const { loading, user } = useAuth()
  // Another tab may sign in meanwhile.
  const query = linkedConversationQuery(token, user?.id ?? null)
  const { data, error, refetch } = useQuery({ ...query, enabled: !loading })
  usePageTitle(data === undefined ? null : activeTitle(data), false)
  if (data !== undefined) return <Conversation linked={data} />
  if (error === null)
    return (
      <p className={styles.state} role="status">
        <Spinner /> Opening the link…
      </p>
    )
  const status = error instanceof HttpError ? error.status : 0
  if (status === 401)
    return (
      <Failure title="Sign in to read this">
        <p>This link is for people who have an account here.</p>
        <Button asChild>
          <a href={ownPath('/login')} target="_blank" rel="opener">
            Sign in
          </a>
        </Button>
      </Failure>
    )
  if (status === 404 || status === 400)
    return (
      <Failure title="This link shows nothing">
        <p>It has ended, was revoked, or its address is incomplete.</p>
      </Failure>
    )
  return (
    <Failure title="The link could not be opened">
      <p>
        {status === 429
          ? 'Too many links were opened from here. Try again in a minute.'
          : 'The server did not answer as expected.'}
      </p>
      <Button variant="outline" onClick={() => void refetch()}>
        Try again
      </Button>
    </Failure>
  )
}

function Failure({ title, children }: { title: string; children: ReactNode }): JSX.Element {
  return (
    <main className={styles.failure} role="alert">
      <h1 className={styles.title}>{title}</h1>
      {children}
    </main>
  )
}

function Conversation({ linked }: { linked: SharedConversation }): JSX.Element {
  const messages = linked.messages.map((message) => ({ ...message, metadata: { sources: message.sources ?? [] } }))
  const addresses = addressesOfThread(messages, NO_ADDRESSES)
  return (
    <main>
      <header className={styles.head}>
        <h1 className={styles.title} dir="auto">
          {activeTitle(linked)}
        </h1>
        <p className={styles.facts}>Shared to be read, until {formatDay(linked.expires_at)}</p>
      </header>
      {linked.messages.map((message) => (
        <LinkedMessage key={message.id} message={message} addresses={addresses} />
      ))}
      {linked.messages.length === 0 && <p className={styles.state}>Nothing was written here yet.</p>}
    </main>
  )
}
