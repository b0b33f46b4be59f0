import { mutationOptions, queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { documentLanguage, LANGUAGES_PREFERENCE, type DocumentLanguage } from '#contract/document.ts'
import { rest } from '#web/data/client.ts'
import { sessionState } from '#web/data/auth/session.ts'
import { storeAccountSettings } from '#web/data/settings.ts'

const preferences = z.record(z.string(), z.unknown())
const key = ['user_settings', 'document_languages'] as const

async function readPreferences(owner: string): Promise<z.infer<typeof preferences> | null> {
  const { data, error } = await rest().from('user_settings').select('preferences').eq('owner', owner).maybeSingle()
  if (error !== null) throw new Error(error.message, { cause: error })
  return z.object({ preferences }).nullable().parse(data)?.preferences ?? null
}

const currentUserId = (): string => {
  const { session } = sessionState()
  if (!session) throw new Error('nobody is signed in')
  return session.user.id
}

/** The languages of the person's scans, likeliest first; empty: all languages are tried. */
export function documentLanguagesQuery() {
  return queryOptions({
    queryKey: key,
    queryFn: async () =>
      z
        .array(documentLanguage)
        .catch([])
        .parse((await readPreferences(currentUserId()))?.[LANGUAGES_PREFERENCE]),
  })
}

/** The other preferences of the row stay. */
export function chooseDocumentLanguages(queryClient: QueryClient) {
  return mutationOptions({
    mutationFn: async (languages: readonly DocumentLanguage[]) => {
      const known = await readPreferences(currentUserId())
      await storeAccountSettings({ preferences: { ...known, [LANGUAGES_PREFERENCE]: languages } })
    },
    onSuccess: (_, languages) => queryClient.setQueryData<DocumentLanguage[]>(key, [...languages]),
  })
}
