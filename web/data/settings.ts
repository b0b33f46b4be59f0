import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { create } from 'zustand'
import { ownName } from '#web/data/base-path.ts'
import { keepaliveRest, rest } from './client.ts'
import { createLiveQuery } from './live-query.ts'
import { localStore } from './storage/text-store.ts'
import { readTheme, storeTheme, type Theme } from './theme.ts'

const SETTINGS_KEY = ownName('alcove-settings')

/** Further settings in one column; unknown keys stay. */
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
const liveSettings = createLiveQuery<AccountSettings>()

export function accountSettingsQuery(userId: string) {
  return queryOptions({
    queryKey: settingsKey(userId),
    queryFn: () =>
      liveSettings.read(settingsKey(userId), async () => {
        const { data, error } = await rest()
          .from('user_settings')
          .select(Object.keys(accountSettings.shape).join(','))
          .eq('owner', userId)
          .maybeSingle()
        if (error !== null) throw new Error(error.message, { cause: error })
        return accountSettings.nullable().parse(data) ?? DEFAULT_ACCOUNT_SETTINGS
      }),
  })
}

export async function changeAccountSettings(
  queryClient: QueryClient,
  userId: string,
  change: Partial<AccountSettings>,
): Promise<void> {
  liveSettings.change(queryClient, settingsKey(userId), (settings) => ({ ...settings, ...change }))
  await storeAccountSettings(change)
}

/** Upserts the row; the database sets its owner. */
export async function storeAccountSettings(change: Partial<AccountSettings>): Promise<void> {
  const { error } = await keepaliveRest().from('user_settings').upsert(change, { onConflict: 'owner' })
  if (error !== null) throw new Error(error.message, { cause: error })
}

/** Changes some preferences. Reads the column first: other code writes it too. */
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
    stored = JSON.parse(localStore.getItem(SETTINGS_KEY) ?? '{}')
  } catch {
    stored = {}
  }
  return storedSettings.catch({ showToolMessages: true, voiceName: null, spokenLanguage: null }).parse(stored)
}

type PageSettings = {
  showToolMessages: boolean
  theme: Theme
  voiceName: string | null
  /** The language of recordings (ISO 639-1), passed to the transcription; null: it detects it. */
  spokenLanguage: string | null
}

export const usePageSettings = create<PageSettings>(() => ({
  ...readStored(),
  theme: readTheme(),
}))

/** Follows changes in other tabs. Returns the function that stops. */
export function followPageSettings(): () => void {
  const follow = (): void => usePageSettings.setState({ ...readStored(), theme: readTheme() })
  addEventListener('storage', follow)
  return () => removeEventListener('storage', follow)
}

export function changePageSettings(change: Partial<StoredSettings>): void {
  localStore.setItem(SETTINGS_KEY, JSON.stringify({ ...readStored(), ...change }), 'settings')
  usePageSettings.setState(change)
}

export const setShowToolMessages = (showToolMessages: boolean): void => changePageSettings({ showToolMessages })

export function setTheme(theme: Theme): void {
  storeTheme(theme)
  usePageSettings.setState({ theme })
}
