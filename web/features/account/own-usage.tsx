import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { ownDailyUsageQuery, ownLimitsQuery } from '#web/data/usage.ts'
import { fillDays, USAGE_MEASURES } from '#web/lib/format/daily-usage.ts'
import { describeLimit } from '#web/lib/format/limits.ts'
import { DailyChart } from '#web/ui/daily-chart.tsx'
import { Progress } from '#web/ui/progress.tsx'
import styles from '#web/ui/rows.module.css'
import { ErrorText, Section } from '#web/ui/section.tsx'

const CHART_DAYS = 30

/** Limits with what is left of them, and the person's use by day. */
export function OwnUsage(): JSX.Element {
  const { id } = useUser()
  const limits = useQuery({ ...ownLimitsQuery(id), refetchOnMount: 'always' })
  const usage = useQuery(ownDailyUsageQuery(id))
  return (
    <Section title="Usage">
      {limits.data !== undefined && limits.data.length > 0 && (
        <ul className={styles.list} aria-label="Limits">
          {limits.data.map((limit) => (
            <li key={limit.name} className={styles.field}>
              <p>{describeLimit(limit)}</p>
              <Progress
                value={Math.min(100, (100 * limit.used) / limit.allowed)}
                label={`Used of the limit: ${limit.name}`}
              />
            </li>
          ))}
        </ul>
      )}
      {usage.data !== undefined && (
        <DailyChart label="Your usage" rows={fillDays(usage.data, CHART_DAYS)} measures={USAGE_MEASURES} />
      )}
      <ErrorText>{usage.isError || limits.isError ? 'Your usage could not be loaded.' : null}</ErrorText>
    </Section>
  )
}
