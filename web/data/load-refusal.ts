/** As `refusalMessage`, whose sentences load with the first failure. */
const loadRefusal = (error: unknown): Promise<string | null> =>
  import('./refusal.ts').then(
    ({ refusalMessage }) => refusalMessage(error),
    () => null,
  )

type Failure = { title: 'Error'; description: string; variant: 'destructive' }

/** A toast with the sentence of a refusal, or the description of a failure, which is logged. */
export async function describeFailure(error: unknown, description: string): Promise<Failure> {
  console.error(error)
  return { title: 'Error', description: (await loadRefusal(error)) ?? description, variant: 'destructive' }
}
