import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, type JSX, type ReactNode } from 'react'
import { usePageTitle } from '#web/app/use-page-title.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { useSpace } from '#web/data/current-space.ts'
import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import { readDraft } from '#web/data/drafts.ts'
import { askingRefusal } from '#web/data/spaces/asking.ts'
import { useCurrentSpace } from '#web/data/spaces/known-spaces.ts'
import { useThreadStore } from '#web/data/thread-store.ts'
import { Composer, type FilledDraft } from '#web/features/composer/composer.tsx'
import { DocumentList, UploadArea } from '#web/features/library/library-parts.ts'
import { DelayedWelcomeCard } from '#web/features/onboarding/delayed-welcome-card.tsx'
import { isFirstLogin } from '#web/features/onboarding/first-login.ts'
import { loadable } from '#web/ui/loadable.tsx'
import { toast } from '#web/ui/toast.tsx'
import { ComposerMicrophone } from './composer-microphone.tsx'
import { DocumentMoveAction } from './document-move-action.tsx'
import { NewConversation, Page, WelcomeBack } from './empty-states.tsx'
import { InputBar } from './input-bar.tsx'
import { DeletedSpaceNotice, InvitationNotices, SpaceStart } from './late-chunk-parts.ts'
import { ErrorBoundary } from '#web/app/error-boundary.tsx'
import { useNavigation } from './navigation.tsx'
import { useAfterFirstReads } from './use-after-first-reads.ts'
import { useOnboarding } from './use-onboarding.ts'
import { useRouteState } from './use-route-state.ts'
import { useSampleQuestion } from './use-sample-question.ts'

const Walkthrough = loadable(() => import('#web/features/onboarding/walkthrough.tsx'))

type StartViewProps = {
  notice: ReactNode
  onboardingHidden: boolean
  filled: FilledDraft | null
  onFill: (text: string) => void
  onSend: (text: string) => void
}

/** The page while no conversation is open. */
export function StartView(props: StartViewProps): JSX.Element {
  const user = useUser()
  const { newChat, openDocument, openSpace, isMakingSpace } = useNavigation()
  const { documentId } = useRouteState()
  const tempMessages = useThreadStore((state) => state.tempMessages)
  const onboarding = useOnboarding(user.id)
  const space = useSpace()
  const counts = useQuery(documentCountsQuery(space))
  const sampleQuestion = useSampleQuestion()
  const [uploading, setUploading] = useState(false)
  /** Null until the walkthrough is first opened. */
  const [walking, setWalking] = useState<boolean | null>(null)

  usePageTitle(null, false)
  const isDue = useAfterFirstReads()
  const refusal = askingRefusal(null, useCurrentSpace(), user.id)

  const ask = (): void => {
    newChat()
    props.onFill(readDraft(user.id, null))
  }
  const trySample = (): void => {
    sampleQuestion().then(
      (question) => {
        newChat()
        props.onFill(question)
      },
      (error: unknown) => {
        console.error(error)
        toast({ title: 'Error', description: 'The sample document could not be added.', variant: 'destructive' })
      },
    )
  }

  const hasTemporary = tempMessages.length > 0
  const isNew = space === null && onboarding.state === 'on' && !props.onboardingHidden && !hasTemporary
  const isKnown = onboarding.state !== 'unknown' || props.onboardingHidden || hasTemporary
  const hasDocuments = (counts.data?.total ?? 0) > 0
  useEffect(() => {
    if (isNew) Walkthrough.preload()
    // Meanwhile the page reads whether there are documents.
    else DocumentList.preload()
  }, [isNew])

  const view = (): JSX.Element => {
    if (hasTemporary) return <NewConversation messages={tempMessages} />
    if (!isKnown) return <Page>{null}</Page>
    if (isNew) {
      return (
        <Page>
          <DelayedWelcomeCard
            greetingName={isFirstLogin(user) ? (user.email?.split('@')[0] ?? null) : null}
            steps={onboarding.steps}
            uploading={uploading}
            uploadArea={<UploadArea onUploaded={() => setUploading(false)} />}
            onUpload={() => setUploading(!uploading)}
            onAsk={hasDocuments || onboarding.hasAsked ? ask : null}
            onSample={trySample}
            onTutorial={() => setWalking(true)}
            onDismiss={() => onboarding.change({ onboarding_dismissed: true })}
          />
        </Page>
      )
    }
    if (space !== null) {
      return (
        <Page>
          <SpaceStart
            space={space}
            documents={
              <DocumentList
                key={space}
                Move={DocumentMoveAction}
                label="Documents"
                titled
                onOpen={openDocument}
                openId={documentId}
              />
            }
            uploadArea={isMakingSpace ? null : <UploadArea />}
          />
        </Page>
      )
    }
    if (!hasDocuments) return <WelcomeBack onSuggestion={props.onFill} />
    return (
      <Page>
        <DocumentList
          Move={DocumentMoveAction}
          label="Your Documents"
          titled
          onOpen={openDocument}
          openId={documentId}
        />
      </Page>
    )
  }

  return (
    <>
      {!hasTemporary && props.notice}
      {!hasTemporary && isDue && (
        <ErrorBoundary isQuiet>
          <DeletedSpaceNotice />
          <InvitationNotices onOpenSpace={openSpace} />
        </ErrorBoundary>
      )}
      {view()}
      {isKnown && !isNew && (
        <InputBar conversationId={null} mayAsk={refusal === null}>
          <Composer
            key={space ?? 'personal'}
            conversationId={null}
            waiting={hasTemporary}
            refusal={refusal}
            filled={props.filled}
            onSend={props.onSend}
            onStop={null}
            Microphone={ComposerMicrophone}
          />
        </InputBar>
      )}
      {walking !== null && (
        <Walkthrough
          open={walking}
          onClose={() => setWalking(false)}
          onFinish={() => onboarding.change({ walkthrough_finished: true })}
        />
      )}
    </>
  )
}
