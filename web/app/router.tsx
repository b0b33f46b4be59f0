import { lazy, Suspense, type JSX } from 'react'
import { Route, Switch } from 'wouter'
import { AuthGate, LoadingPage } from './auth-gate.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { NotFoundPage } from './routes/not-found.tsx'
import { LoginPage } from './routes/login.tsx'
import { Notifications } from './notifications.tsx'

const ChatPage = lazy(() => import('./routes/chat.tsx'))

export function Router(): JSX.Element {
  return (
    <>
      <Switch>
        <Route path="/login" component={LoginPage} />
        <Route path="/">
          <AuthGate>
            <ErrorBoundary>
              <Suspense fallback={<LoadingPage />}>
                <ChatPage />
              </Suspense>
            </ErrorBoundary>
          </AuthGate>
        </Route>
        <Route component={NotFoundPage} />
      </Switch>
      <Notifications />
    </>
  )
}
