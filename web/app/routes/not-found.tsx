import { TriangleAlert } from 'lucide-react'
import type { JSX } from 'react'
import { Link } from 'wouter'
import { Button } from '#web/ui/button.tsx'
import styles from './not-found.module.css'

export function NotFoundPage(): JSX.Element {
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <TriangleAlert size={24} aria-hidden className={styles.icon} />
        <h1 className={styles.title}>404 Page Not Found</h1>
        <p className={styles.words}>Did you forget to add the page to the router?</p>
        <Button variant="outline" asChild>
          <Link href="/">Back to your conversations</Link>
        </Button>
      </div>
    </main>
  )
}
