/** Password sign-in, less the one hash that it must compute. */
import { hash, verify } from '@node-rs/argon2'
import { createClient } from '@supabase/supabase-js'
import { HASHING } from '#server/auth/passwords.ts'
import { createDataDir, startAlcove } from '#test/alcove.ts'
import { inTurn, median, rounded } from './measure.ts'

export async function run([times = '100']: string[]): Promise<Record<string, unknown>> {
  const { dataDir, remove } = await createDataDir()
  const alcove = await startAlcove({ DATA_DIR: dataDir, LOG_LEVEL: 'warn', RATE_LIMITS: 'off' })
  const { supabaseAnonKey, testAccount } = await alcove.config()
  if (!testAccount) throw new Error('there is no test account')
  const client = createClient(alcove.url, supabaseAnonKey, { auth: { persistSession: false, autoRefreshToken: false } })
  const stored = await hash(testAccount.password, HASHING)

  async function signIn(): Promise<number> {
    const startedAt = performance.now()
    const { error } = await client.auth.signInWithPassword(testAccount ?? { email: '', password: '' })
    if (error) throw error
    return performance.now() - startedAt
  }
  async function hashOnce(): Promise<number> {
    const startedAt = performance.now()
    await verify(stored, testAccount?.password ?? '')
    return performance.now() - startedAt
  }
  await inTurn(10, signIn, hashOnce)
  const { ours, baseline } = await inTurn(Number(times), signIn, hashOnce)
  await alcove.end()
  await remove()
  return {
    p50Ms: rounded(median(ours)),
    hashP50Ms: rounded(median(baseline)),
    restP50Ms: rounded(median(ours) - median(baseline)),
    goalMs: 15,
  }
}
