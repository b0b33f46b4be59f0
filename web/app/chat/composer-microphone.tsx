import type { JSX } from 'react'
import type { InputMethodProps } from '#web/features/composer/composer.tsx'
import { Microphone } from '#web/features/voice/microphone.tsx'
import { offersCapture } from '#web/features/voice/recorder.ts'

export function ComposerMicrophone({ conversationId, disabled, replace }: InputMethodProps): JSX.Element | null {
  return offersCapture() ? <Microphone conversationId={conversationId} disabled={disabled} onText={replace} /> : null
}
