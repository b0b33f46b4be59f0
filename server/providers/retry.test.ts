import { expect, test } from 'vitest'
import { sendAgain } from './retry.ts'

const refusal = (isRetryable: boolean) =>
  Object.assign(new Error('no'), { isRetryable, responseHeaders: { 'retry-after-ms': '1' } })
const unheard = (signal = AbortSignal.timeout(10_000)) => ({ signal, isUnheard: () => true })

test('sends once more what could not be taken at the moment, and no third time', async () => {
  const failures = [refusal(true)]
  const send = () => {
    const failure = failures.shift()
    return failure ? Promise.reject(failure) : Promise.resolve('answer')
  }
  expect(await sendAgain(send, unheard())).toBe('answer')
  failures.push(refusal(true), refusal(true), refusal(true))
  await expect(sendAgain(send, unheard())).rejects.toThrow('no')
  expect(failures).toHaveLength(1)
})

test('sends nothing again that was refused for good, that nobody waits for, or of which something was heard', async () => {
  let sent = 0
  const send = (failure: Error) => () => {
    sent += 1
    return Promise.reject(failure)
  }
  await expect(sendAgain(send(refusal(false)), unheard())).rejects.toThrow('no')
  await expect(sendAgain(send(new Error('broken')), unheard())).rejects.toThrow('broken')
  await expect(sendAgain(send(refusal(true)), unheard(AbortSignal.abort(new Error('left'))))).rejects.toThrow('left')
  await expect(sendAgain(send(refusal(true)), { ...unheard(), isUnheard: () => false })).rejects.toThrow('no')
  expect(sent).toBe(4)
})
