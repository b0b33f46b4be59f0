/** The settings tab: the own settings, and for the operator the operation section. */
import { useQuery } from '@tanstack/react-query'
import type { JSX, ReactNode } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { isOperatorQuery } from '#web/data/operation/operation.ts'
import { loadable } from '#web/ui/loadable.tsx'
import SettingsPanel from '#web/features/account/settings-panel.tsx'
import { ErrorBoundary } from '#web/app/error-boundary.tsx'

const OperationSection = loadable(() => import('#web/features/operation/operation-section.tsx'))

type SettingsTabProps = { above?: ReactNode; onShowIntroduction: () => void }

export default function SettingsTab(props: SettingsTabProps): JSX.Element {
  const { id } = useUser()
  const { data: isOperator = false } = useQuery(isOperatorQuery(id))
  return (
    <SettingsPanel
      {...props}
      below={
        isOperator && (
          <ErrorBoundary isQuiet>
            <OperationSection />
          </ErrorBoundary>
        )
      }
    />
  )
}
