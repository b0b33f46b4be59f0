export function logFailure(task: Promise<unknown>): void {
  task.catch((error: unknown) => console.error(error))
}
