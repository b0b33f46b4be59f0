import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { create } from 'zustand'
import { keepaliveRest, rest } from './client.ts'
import { readTheme, storeTheme, type Theme } from './theme.ts'

const SETTINGS_KEY = 'alcove-settings'

/** Further choices, in one column: what another version of the page keeps there is left as it is. */
const preferences = z.looseObject({ default_model: z.string().nullable().optional().catch(null) }).catch({})

const accountSettings = z.object({
  onboarding_dismissed: z.boolean(),
  walkthrough_finished: z.boolean(),
  preferences,
})
export type AccountSettings = z.infer<typeof accountSettings>

const DEFAULT_ACCOUNT_SETTINGS: AccountSettings = {
  onboarding_dismissed: false,
  walkthrough_finished: false,
  preferences: {},
}

const settingsKey = (userId: string) => ['user_settings', userId] as const

/** How far the onboarding is, and what the person prefers; someone without a row has just begun. */
export function accountSettingsQuery(userId: string) {
  return queryOptions({
    queryKey: settingsKey(userId),
    queryFn: async (): Promise<AccountSettings> => {
      const { data, error } = await rest()
        .from('user_settings')
        .select(Object.keys(accountSettings.shape).join(','))
        .eq('owner', userId)
        .maybeSingle()
      if (error !== null) throw new Error(error.message, { cause: error })
      return accountSettings.nullable().parse(data) ?? DEFAULT_ACCOUNT_SETTINGS
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
  await storeAccountSettings(change)
}

/** One write, whether or not the person has a row; whose it is, the database knows. */
export async function storeAccountSettings(change: Partial<AccountSettings>): Promise<void> {
  const { error } = await keepaliveRest().from('user_settings').upsert(change, { onConflict: 'owner' })
  if (error !== null) throw new Error(error.message, { cause: error })
}

/** Changes some of the person's preferences; the others are read anew, because whatever keeps them writes the same column. */
export async function changePreferences(
  queryClient: QueryClient,
  userId: string,
  change: AccountSettings['preferences'],
): Promise<void> {
  const known = await queryClient.query({ ...accountSettingsQuery(userId), staleTime: 0 })
  await changeAccountSettings(queryClient, userId, { preferences: { ...known.preferences, ...change } })
}

const storedSettings = z.object({
  showToolMessages: z.boolean().catch(true),
  voiceName: z.string().nullable().catch(null),
  spokenLanguage: z.string().nullable().catch(null),
})
type StoredSettings = z.infer<typeof storedSettings>

function readStored(): StoredSettings {
  let stored: unknown
  try {
    stored = JSON.parse(localStorage.getItem(SETTINGS_KEY) ?? '{}')
  } catch {
    stored = {}
  }
  return storedSettings.catch({ showToolMessages: true, voiceName: null, spokenLanguage: null }).parse(stored)
}

type PageSettings = {
  showToolMessages: boolean
  theme: Theme
  /** The browser's voice that reads aloud, by its name; null: the browser's own choice. */
  voiceName: string | null
  /** What recordings are in (ISO 639-1), told to whoever transcribes them; null: that one finds out. */
  spokenLanguage: string | null
}

/** What this browser remembers: one and the same setting in the header menu and in the settings tab. */
export const usePageSettings = create<PageSettings>(() => ({
  ...readStored(),
  theme: readTheme(),
}))

export function changePageSettings(change: Partial<StoredSettings>): void {
  localStorage.setItem(SETTINGS_KEY, JSON.stringify({ ...readStored(), ...change }))
  usePageSettings.setState(change)
}

export const setShowToolMessages = (showToolMessages: boolean): void => changePageSettings({ showToolMessages })

export function setTheme(theme: Theme): void {
  storeTheme(theme)
  usePageSettings.setState({ theme })
}
