import { expect, test } from 'vitest'
import { retryOnce } from './retry.ts'

const refusal = (isRetryable: boolean) =>
  Object.assign(new Error('no'), { isRetryable, responseHeaders: { 'retry-after-ms': '1' } })
const unheard = (signal = AbortSignal.timeout(10_000)) => ({ signal, hasNoOutput: () => true })

test('retries a temporarily rejected request once', async () => {
  const failures = [refusal(true)]
  const send = () => {
    const failure = failures.shift()
    return failure ? Promise.reject(failure) : Promise.resolve('answer')
  }
  expect(await retryOnce(send, unheard())).toBe('answer')
  failures.push(refusal(true), refusal(true), refusal(true))
  await expect(retryOnce(send, unheard())).rejects.toThrow('no')
  expect(failures).toHaveLength(1)
})

test('does not retry after a permanent error, an aborted signal, or first output', async () => {
  let sent = 0
  const send = (failure: Error) => () => {
    sent += 1
    return Promise.reject(failure)
  }
  await expect(retryOnce(send(refusal(false)), unheard())).rejects.toThrow('no')
  await expect(retryOnce(send(new Error('broken')), unheard())).rejects.toThrow('broken')
  await expect(retryOnce(send(refusal(true)), unheard(AbortSignal.abort(new Error('left'))))).rejects.toThrow('left')
  await expect(retryOnce(send(refusal(true)), { ...unheard(), hasNoOutput: () => false })).rejects.toThrow('no')
  expect(sent).toBe(4)
})
