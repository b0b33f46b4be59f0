import type { JSX } from 'react'
import { Route, Router as BelowPath, Switch, useSearch } from 'wouter'
import { routerBase } from '#web/data/base-path.ts'
import { loadable } from '#web/ui/loadable.tsx'
import { AuthGate, LoadingPage } from './auth-gate.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { NotFoundPage } from './routes/not-found.tsx'
import { LoginPage } from './routes/login.tsx'
import { Notifications } from './notifications.tsx'

const SharedLinkPage = loadable(() => import('./shared-link/shared-link-page.tsx'), { loading: LoadingPage })
const ChatPage = loadable(() => import('./routes/chat.tsx'), { loading: LoadingPage })

export function Router(): JSX.Element {
  return (
    <BelowPath base={routerBase()}>
      <Switch>
        <Route path="/login" component={LoginPage} />
        <Route path="/" component={HomePage} />
        <Route component={NotFoundPage} />
      </Switch>
      <Notifications />
    </BelowPath>
  )
}

/** The chat page, and what a link shows, which may need no account. */
function HomePage(): JSX.Element {
  const link = new URLSearchParams(useSearch()).get('link')
  const page = <ErrorBoundary>{link === null ? <ChatPage /> : <SharedLinkPage token={link} />}</ErrorBoundary>
  return link === null ? <AuthGate>{page}</AuthGate> : page
}
