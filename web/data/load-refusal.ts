/** As `refusalMessage`, whose sentences load with the first failure. */
export const loadRefusal = (error: unknown): Promise<string | null> =>
  import('./refusal.ts').then(
    ({ refusalMessage }) => refusalMessage(error),
    () => null,
  )
