import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { create } from 'zustand'
import { rest } from './client.ts'
import { readTheme, storeTheme, type Theme } from './theme.ts'

const SETTINGS_KEY = 'alcove-settings'

const accountSettings = z.object({ onboarding_dismissed: z.boolean(), walkthrough_finished: z.boolean() })
export type AccountSettings = z.infer<typeof accountSettings>

const settingsKey = (userId: string) => ['user_settings', userId] as const

/** How far the onboarding is; someone without a row has just begun. */
export function accountSettingsQuery(userId: string) {
  return queryOptions({
    queryKey: settingsKey(userId),
    queryFn: async (): Promise<AccountSettings> => {
      const { data, error } = await rest()
        .from('user_settings')
        .select('onboarding_dismissed,walkthrough_finished')
        .eq('owner', userId)
        .maybeSingle()
      if (error !== null) throw new Error(error.message, { cause: error })
      return accountSettings.nullable().parse(data) ?? { onboarding_dismissed: false, walkthrough_finished: false }
    },
  })
}

/** Shown at once; stored in the person's row, which is made when it is not there yet. */
export async function changeAccountSettings(
  queryClient: QueryClient,
  userId: string,
  change: Partial<AccountSettings>,
): Promise<void> {
  queryClient.setQueryData<AccountSettings>(settingsKey(userId), (settings) =>
    settings === undefined ? settings : { ...settings, ...change },
  )
  const { data, error } = await rest().from('user_settings').update(change).eq('owner', userId).select('owner')
  if (error !== null) throw new Error(error.message, { cause: error })
  if (Array.isArray(data) && data.length > 0) return
  const inserted = await rest()
    .from('user_settings')
    .insert({ owner: userId, ...change })
  if (inserted.error !== null) throw new Error(inserted.error.message, { cause: inserted.error })
}

function readShowToolMessages(): boolean {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(SETTINGS_KEY) ?? '{}')
    return z.object({ showToolMessages: z.boolean() }).safeParse(stored).data?.showToolMessages ?? true
  } catch {
    return true
  }
}

type PageSettings = { showToolMessages: boolean; theme: Theme }

/** What this browser remembers: one and the same setting in the header menu and in the settings tab. */
export const usePageSettings = create<PageSettings>(() => ({
  showToolMessages: readShowToolMessages(),
  theme: readTheme(),
}))

export function setShowToolMessages(showToolMessages: boolean): void {
  localStorage.setItem(SETTINGS_KEY, JSON.stringify({ showToolMessages }))
  usePageSettings.setState({ showToolMessages })
}

export function setTheme(theme: Theme): void {
  storeTheme(theme)
  usePageSettings.setState({ theme })
}
