const ANSWER_LIMIT_MS = 5000

/** Most visits never open a database. False if the browser refuses storage or does not answer; true if it cannot tell. */
export async function databaseExists(name: string): Promise<boolean> {
  try {
    if (!('databases' in indexedDB)) return true
    const databases = await Promise.race([
      indexedDB.databases(),
      new Promise<never[]>((resolve) => setTimeout(() => resolve([]), ANSWER_LIMIT_MS)),
    ])
    return databases.some((database) => database.name === name)
  } catch {
    return false
  }
}
