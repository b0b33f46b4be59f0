import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState, type JSX } from 'react'
import type { ChosenEmbeddings, EmbeddingsOffer } from '#contract/embeddings.ts'
import type { PersonalProvider } from '#contract/provider.ts'
import {
  chooseEmbeddings,
  embeddingsOffersQuery,
  embeddingsQuery,
  isIndexing,
  stopEmbeddings,
} from '#web/data/embeddings.ts'
import { Progress } from '#web/ui/progress.tsx'
import { Switch } from '#web/ui/switch.tsx'
import { EmbeddingsModel } from './embeddings-model.tsx'
import { endSentence } from './end-sentence.ts'
import { ErrorText } from '#web/ui/section.tsx'
import { SelectField } from '#web/ui/select-field.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'
import styles from './search-by-meaning.module.css'

const number = new Intl.NumberFormat('en')

const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|$)/.test(host)

const describeHost = (host: string): string => (isLoopback(host) ? `${host}, on the machine of this server` : host)

/** The choice as an offer of its provider, which may not list the model, or may be gone. */
const offerOf = ({ provider, provider_name, host, model }: ChosenEmbeddings): EmbeddingsOffer => ({
  provider: provider ?? '',
  provider_name,
  host: host ?? '',
  models: [model],
})

/** Switches for embeddings models of connected endpoints, and how far the chosen one has read the library. */
export function SearchByMeaning({ providers }: { providers: readonly PersonalProvider[] }): JSX.Element | null {
  const id = useId()
  const { data: state, isError } = useQuery(embeddingsQuery)
  const { data: listed } = useQuery(embeddingsOffersQuery)
  const chosen = state?.chosen ?? null
  const offers = listed?.offers ?? []
  const isOfChosen = ({ provider, host }: EmbeddingsOffer) =>
    chosen !== null && chosen.available && provider === chosen.provider && host === chosen.host
  const isOffered = offers.some(isOfChosen)
  const shown = chosen?.source === 'server' && !isOffered ? [offerOf(chosen), ...offers] : offers
  const failures = listed?.failures ?? []
  const isOfOperator = chosen?.source === 'operator'
  const able = providers.some(({ kind }) => kind !== 'anthropic')
  if (shown.length === 0 && failures.length === 0 && !isOfOperator && !able && !isError) return null
  return (
    <section className={styles.block} aria-labelledby={id}>
      <h4 id={id} className={styles.heading}>
        Search by meaning
      </h4>
      <ErrorText>{isError ? 'Whether your documents are searched by meaning could not be loaded.' : null}</ErrorText>
      {isOfOperator && <OperatorModel chosen={chosen} />}
      {state !== undefined &&
        shown.map((offer) => (
          <OfferRow
            key={`${offer.provider} ${offer.host}`}
            offer={offer}
            chosen={isOfChosen(offer) || (chosen?.source === 'server' && offer.provider === '') ? chosen : null}
          />
        ))}
      {failures.map((failure) => (
        <p key={failure} className={styles.caption}>
          {endSentence(failure)} Whether it has a model that searches by meaning is not known.
        </p>
      ))}
      <EmbeddingsModel providers={providers} isOffered={isOffered && chosen?.source === 'own'} />
      {chosen?.source === 'own' && !isOffered && <IndexingProgress chosen={chosen} />}
    </section>
  )
}

function OperatorModel({ chosen }: { chosen: ChosenEmbeddings }): JSX.Element {
  const { model, host, failure } = chosen
  return (
    <>
      <p className={styles.caption}>
        Your documents are searched by meaning with {model}, which the operator of this server has set up.{' '}
        {host === null
          ? 'It runs in this server: nothing leaves it.'
          : `Their text, and every question, is sent to ${describeHost(host)}.`}
      </p>
      <IndexingFailure failure={failure} />
    </>
  )
}

function OfferRow({ offer, chosen }: { offer: EmbeddingsOffer; chosen: ChosenEmbeddings | null }): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const [picked, setPicked] = useState<string | null>(null)
  const [labelId, captionId] = [useId(), useId()]
  const { provider, host } = offer
  const models = chosen === null || offer.models.includes(chosen.model) ? offer.models : [chosen.model, ...offer.models]
  const model = picked ?? chosen?.model ?? models[0] ?? ''
  const choose = (wanted: string) =>
    run(async () => {
      await chooseEmbeddings(queryClient, { provider, model: wanted, host })
      setPicked(null)
    })
  const toggle = (on: boolean) => void (on ? choose(model) : run(() => stopEmbeddings(queryClient)))
  return (
    <div className={styles.offer}>
      <div className={styles.row}>
        <span className={styles.words}>
          <span id={labelId}>Search by meaning with {model}</span>
          <span id={captionId} className={styles.caption}>
            {describeOffer(offer, chosen)}
          </span>
        </span>
        <Switch
          checked={chosen !== null}
          disabled={busy}
          onCheckedChange={toggle}
          aria-labelledby={labelId}
          aria-describedby={captionId}
        />
      </div>
      {models.length > 1 && (
        <SelectField
          label="Model"
          value={model}
          disabled={busy}
          options={models.map((value) => ({ value, label: value }))}
          onChange={(value) => {
            setPicked(value)
            if (chosen !== null) void choose(value)
          }}
        />
      )}
      {busy && chosen === null && <p className={styles.caption}>Trying it...</p>}
      <ErrorText>{errorMessage}</ErrorText>
      {chosen !== null && <IndexingProgress chosen={chosen} />}
    </div>
  )
}

function describeOffer({ provider_name, host }: EmbeddingsOffer, chosen: ChosenEmbeddings | null): string {
  if (chosen !== null && !chosen.available)
    return `This server no longer uses ${host}: your documents are searched by their words. Switching off deletes what was computed.`
  const receiver =
    provider_name === 'OpenAI-compatible' ? describeHost(host) : `${provider_name} (${describeHost(host)})`
  return chosen === null
    ? `The text of all your documents, and every question, would be sent to ${receiver}.`
    : `The text of all your documents, and every question, is sent to ${receiver}. Switching off deletes what was computed.`
}

function IndexingProgress({ chosen }: { chosen: ChosenEmbeddings }): JSX.Element {
  const { embedded, passages, failure } = chosen
  const counted = `${number.format(embedded)} of ${number.format(passages)} passages`
  return (
    <>
      {isIndexing(chosen) && (
        <Progress value={(100 * embedded) / passages} label="Passages that can be found by meaning" />
      )}
      {passages > 0 && <p className={styles.caption}>{counted}</p>}
      <IndexingFailure failure={failure} />
    </>
  )
}

function IndexingFailure({ failure }: { failure: string | null }): JSX.Element {
  return (
    <ErrorText>
      {failure === null
        ? null
        : `${endSentence(failure)} It is tried again every few minutes; until then words are searched.`}
    </ErrorText>
  )
}
