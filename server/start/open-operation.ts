/** The operation section, the page of the one-time link, and that link where there is no account yet. */
import { limitAddress } from '#server/access/limit-address.ts'
import { hasAccounts } from '#server/auth/people.ts'
import type { AuthService } from '#server/auth/service.ts'
import type { Database } from '#server/database/scope.ts'
import type { InstallationParts } from '#server/operation/installation.ts'
import { createOperatorPage } from '#server/operation/operator-page.ts'
import { createOperatorLink, hasOperator } from '#server/operation/operators.ts'
import { createOperationRoutes } from '#server/operation/routes.ts'
import type { OperatorSettings } from '#server/operation/settings.ts'
import type { Foundation } from './foundation.ts'
import { readProductVersion } from './product-version.ts'

interface OperationOptions {
  readonly operatorSettings: OperatorSettings
  readonly authService: AuthService
  readonly operated: Pick<InstallationParts, 'embeddings' | 'providers' | 'modelOffers'>
  readonly readBackupState: InstallationParts['readBackupState']
  readonly hasTestAccount: boolean
}

export async function openOperation(foundation: Foundation, options: OperationOptions) {
  const { config, database, address } = foundation
  const { operatorSettings, authService, operated, readBackupState, hasTestAccount } = options
  return {
    routes: createOperationRoutes({
      database,
      settings: operatorSettings,
      version: await readProductVersion(),
      dataDir: config.DATA_DIR,
      readBackupState,
      ...operated,
      authService,
    }),
    page: createOperatorPage({
      database,
      authService,
      limitAddress: limitAddress({ requests: 30, seconds: 60, trustProxy: config.TRUST_PROXY }),
    }),
    // A set-up with a test account is for one person's own machine: `npm run -s operator` makes a link there.
    link:
      hasTestAccount || !(await isNew(database))
        ? undefined
        : await database.asService((scope) => createOperatorLink((text, values) => scope.query(text, values), address)),
  }
}

async function isNew(database: Database): Promise<boolean> {
  const isOperated = await database.asService((scope) => hasOperator((text, values) => scope.query(text, values)))
  return !isOperated && !(await hasAccounts(database))
}
