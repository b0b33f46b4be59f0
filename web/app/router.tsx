import { lazy, Suspense, type JSX } from 'react'
import { Route, Router as BelowPath, Switch } from 'wouter'
import { routerBase } from '#web/data/base-path.ts'
import { AuthGate, LoadingPage } from './auth-gate.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { NotFoundPage } from './routes/not-found.tsx'
import { LoginPage } from './routes/login.tsx'
import { Notifications } from './notifications.tsx'

const ChatPage = lazy(() => import('./routes/chat.tsx'))

export function Router(): JSX.Element {
  return (
    <BelowPath base={routerBase()}>
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
    </BelowPath>
  )
}
