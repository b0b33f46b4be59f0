import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'
import { allUsageQuery, installationQuery } from '#web/data/operation/operation.ts'
import { fillDays, formatCount, USAGE_MEASURES } from '#web/lib/format/daily-usage.ts'
import { DailyChart } from '#web/ui/daily-chart.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText, Section } from '#web/ui/section.tsx'
import { HealthFacts } from './health-facts.tsx'
import { isModelSetting, OperatedModels } from './operated-models.tsx'
import { PeopleList } from './people-list.tsx'
import { SettingRow } from './setting-row.tsx'
import { TestMail } from './test-mail.tsx'

const CHART_DAYS = 30

/** People, limits, mail and health of the installation. Nothing that people wrote or stored is shown. */
export default function OperationSection(): JSX.Element {
  const installation = useQuery(installationQuery)
  const usage = useQuery(allUsageQuery)
  const lastUsed = usage.data?.findLast((row) => row.people > 0)
  return (
    <>
      <Section title="Operation">
        <p className={rows.caption}>
          For you alone, as the operator. Documents and conversations of others are not shown.
        </p>
        {installation.data !== undefined && <HealthFacts health={installation.data.health} />}
        <ErrorText>{installation.isError ? 'The state of the installation could not be loaded.' : null}</ErrorText>
      </Section>
      <Section title="Sign-ups and limits">
        <p className={rows.caption}>0 is no limit. Days and months are those of UTC.</p>
        <div className={rows.list}>
          {installation.data?.settings
            .filter((setting) => !isModelSetting(setting))
            .map((setting) => (
              <SettingRow key={setting.name} setting={setting} />
            ))}
        </div>
      </Section>
      <Section title="Models">
        {installation.data !== undefined && (
          <OperatedModels models={installation.data.models} settings={installation.data.settings} />
        )}
      </Section>
      <Section title="Mail">
        <TestMail />
      </Section>
      <Section title="People">
        <PeopleList />
      </Section>
      <Section title="Usage of all">
        {usage.data !== undefined && (
          <>
            <p className={rows.caption}>
              {lastUsed === undefined
                ? 'Nothing was asked yet.'
                : `People who asked on the last day with use: ${formatCount(lastUsed.people)}.`}
            </p>
            <DailyChart label="Usage of all" rows={fillDays(usage.data, CHART_DAYS)} measures={USAGE_MEASURES} />
          </>
        )}
        <ErrorText>{usage.isError ? 'The usage could not be loaded.' : null}</ErrorText>
      </Section>
    </>
  )
}
