const IS_ENDED = /[.!?…。！？]["'”’»)\]]*$/u

/** Adds the full stop that messages of providers often lack, so that a sentence may follow. */
export function endSentence(message: string): string {
  const trimmed = message.trim()
  return IS_ENDED.test(trimmed) ? trimmed : `${trimmed}.`
}
