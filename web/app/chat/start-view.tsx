import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, type JSX } from 'react'
import { useUser } from '#web/data/auth-context.tsx'
import { documentsQuery } from '#web/data/documents.ts'
import { useThreadStore } from '#web/data/thread-store.ts'
import { Composer } from '#web/features/composer/composer.tsx'
import { DocumentList } from '#web/features/library/document-list.tsx'
import { UploadArea } from '#web/features/library/upload-area.tsx'
import { Walkthrough } from '#web/features/onboarding/walkthrough.tsx'
import { WelcomeCard } from '#web/features/onboarding/welcome-card.tsx'
import { isFirstLogin } from '#web/lib/first-login.ts'
import type { Filled } from './conversation-view.tsx'
import { InputBar } from './input-bar.tsx'
import { NewConversation, Page, WelcomeBack } from './start-views.tsx'
import { useOnboarding } from './use-onboarding.ts'
import { useSampleQuestion } from './use-sample.ts'

type StartViewProps = {
  onboardingHidden: boolean
  filled: Filled
  onFill: (text: string) => void
  onNewChat: () => void
  onSend: (text: string) => void
  onOpenDocument: (id: string) => void
}

/** What the page shows while no conversation is open. */
export function StartView(props: StartViewProps): JSX.Element {
  const user = useUser()
  const tempMessages = useThreadStore((state) => state.tempMessages)
  const onboarding = useOnboarding(user.id)
  const documents = useQuery(documentsQuery())
  const sampleQuestion = useSampleQuestion()
  const [uploading, setUploading] = useState(false)
  const [walking, setWalking] = useState(false)

  useEffect(() => {
    document.title = 'Alcove'
  }, [])

  const trySample = (): void => {
    sampleQuestion().then(
      (question) => {
        props.onNewChat()
        props.onFill(question)
      },
      (error: unknown) => console.error(error),
    )
  }

  const hasTemporary = tempMessages.length > 0
  const isNew = onboarding.state === 'on' && !props.onboardingHidden && !hasTemporary
  const isKnown = onboarding.state !== 'unknown' || props.onboardingHidden || hasTemporary
  const hasDocuments = (documents.data?.length ?? 0) > 0

  const view = (): JSX.Element => {
    if (hasTemporary) return <NewConversation messages={tempMessages} />
    if (!isKnown) return <Page>{null}</Page>
    if (isNew) {
      return (
        <Page>
          <WelcomeCard
            greetingName={isFirstLogin(user) ? (user.email?.split('@')[0] ?? null) : null}
            steps={onboarding.steps}
            uploading={uploading}
            uploadArea={<UploadArea onUploaded={() => setUploading(false)} />}
            onUpload={() => setUploading(true)}
            onSample={trySample}
            onTutorial={() => setWalking(true)}
            onDismiss={() => onboarding.change({ onboarding_dismissed: true })}
          />
        </Page>
      )
    }
    if (!hasDocuments) return <WelcomeBack onSuggestion={props.onFill} />
    return (
      <Page>
        <DocumentList heading="Your Documents" onOpen={props.onOpenDocument} />
      </Page>
    )
  }

  return (
    <>
      {view()}
      {isKnown && !isNew && (
        <InputBar>
          <Composer
            key="new"
            conversationId={null}
            waiting={hasTemporary}
            filled={props.filled}
            onSend={props.onSend}
            onStop={null}
          />
        </InputBar>
      )}
      <Walkthrough
        open={walking}
        onClose={() => setWalking(false)}
        onFinish={() => onboarding.change({ walkthrough_finished: true })}
      />
    </>
  )
}
