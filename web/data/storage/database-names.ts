import { ownName } from '#web/data/base-path.ts'

export const RECORDINGS_DATABASE = ownName('alcove-recordings')
export const UNSENT_FILES_DATABASE = ownName('alcove-unsent-files')
