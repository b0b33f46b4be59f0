import { Component, type ErrorInfo, type JSX, type ReactNode } from 'react'
import { Button } from '#web/ui/button.tsx'
import styles from './auth-gate.module.css'

function ErrorPage(): JSX.Element {
  return (
    <div className={styles.page} role="alert">
      <h1 className={styles.title}>This page could not be shown</h1>
      <p className={styles.words}>The server may be out of reach, or newer than this page. Nothing of yours is lost.</p>
      <Button onClick={() => location.reload()}>Reload the page</Button>
    </div>
  )
}

/** A class, because React catches render errors, such as code that could not be loaded, in classes only. */
export class ErrorBoundary extends Component<{ children: ReactNode; isQuiet?: boolean }, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true }
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo): void {
    console.error(error, componentStack)
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children
    return this.props.isQuiet === true ? null : <ErrorPage />
  }
}
