import { useQuery, useQueryClient } from '@tanstack/react-query'
import { conversationList } from '#web/data/conversations.ts'
import { useSpace } from '#web/data/current-space.ts'
import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import { accountSettingsQuery, changeAccountSettings, type AccountSettings } from '#web/data/settings.ts'

type Onboarding = {
  /** `unknown` while loading. */
  state: 'unknown' | 'on' | 'off'
  steps: { done: number; total: number }
  hasAsked: boolean
  change: (change: Partial<AccountSettings>) => void
}

const TOTAL = 4

/** Progress through the four steps: an account, a document, a question, the walk-through. */
export function useOnboarding(userId: string): Onboarding {
  const queryClient = useQueryClient()
  const settings = useQuery(accountSettingsQuery(userId))
  const space = useSpace()
  const counts = useQuery(documentCountsQuery(space))
  const conversations = useQuery(conversationList.query({ userId, space, search: '' }))
  const hasDocument = (counts.data?.total ?? 0) > 0
  const hasAsked = (conversations.data?.rows.length ?? 0) > 0
  const done = 1 + [hasDocument, hasAsked, settings.data?.walkthrough_finished === true].filter(Boolean).length
  const pending = settings.isPending || counts.isPending || conversations.isPending
  const over = settings.data === undefined || settings.data.onboarding_dismissed || done === TOTAL
  return {
    state: pending ? 'unknown' : over ? 'off' : 'on',
    steps: { done, total: TOTAL },
    hasAsked,
    change: (change) => {
      changeAccountSettings(queryClient, userId, change).catch((error: unknown) => console.error(error))
    },
  }
}
