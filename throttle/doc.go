// Package throttle decides which calls to a paid vendor go out, and when: for
// all processes of a fleet together where they share a Redis, in this process
// alone otherwise.
//
// A [Throttle] is the front door. [Throttle.Acquire] takes a [Call] and returns
// a [Permit], or a [DeniedError] that says why not and when to come back. After
// the vendor's answer [Permit.Answered] says what it meant, and the permit's
// end settles what the call really cost.
//
//	th, err := throttle.New(throttle.Config{
//		Store:   store, // NewRedisStore; nil: this process alone
//		Budgets: []throttle.Budget{{
//			Models: []string{"gpt-4o*"},
//			Limits: []throttle.Limit{throttle.Requests(600, time.Minute), throttle.Tokens(150_000, time.Minute)},
//		}},
//	})
//
// # A call's way
//
// A call that is known here to be refused (its key is, its model is, a pause
// ends too late) is denied without a round trip. One for which units are leased
// spends those, without a round trip either. Any other enters the queue of
// its budget, which has at most one claim under way; whoever arrives meanwhile
// travels with the next one. A claim is one atomic step of the [Store]: one
// script and one round trip in Redis, on the server's clock. It applies the
// settlements that travel with it, then takes the calls lane by lane, highest
// first, and within a lane in the order in which they came. A call goes if all
// its limits have room; else it waits, if its lane may and its turn comes in
// time, and is denied if not. A waiting call counts as use towards those
// behind it, on the limits that it lacks and no others. Each waiting call is
// told the instant of its turn, and one timer claims at the first of them.
//
// For the longest-waiting call of each of its lanes a queue leaves a ticket in
// the store, by which calls of other processes that came later, or belong to a
// lower lane, keep room for it. A ticket that isn't redeemed a quarter of a second
// after its turn has a dead owner and is void, with all others of its process.
//
// # What always holds
//
// Each rule names the tests that fail without it.
//
//   - Never above the budget: by its own algorithm no limit is exceeded by what
//     was charged, for the whole fleet, whatever the clocks of its processes
//     say. TestFiftyGoroutinesForTenPlacesTwentyTimes, FuzzStoresAgree,
//     FuzzWindow, FuzzBucket, FuzzLog, TestRoomForAQueueIsWhereItGets,
//     TestEachAlgorithmLetsAQueueThroughAtItsOwnPace.
//   - Never refused while there is room, and a call that is denied without
//     waiting changes nothing. TestACallDeniedWithoutWaitingChangesNothing,
//     TestRefusedWeightsLeaveNoRoundingBehind,
//     TestASmallerCallIsNotHeldBackOnALimitThatTheFirstDoesNotLack.
//   - Lane ceilings are hard: a lane is refused once everybody's use has reached
//     its share of a limit. TestBackgroundHasSixtyPercentOfEverybodysUse,
//     TestALaneAloneStaysWithinItsShare,
//     TestACostAboveItsLanesCeilingIsTooLargeAndNamesLaneAndLimit.
//   - Waiting is honest: a wait that can't succeed in time is refused at once, a
//     cancelled one costs nothing. TestWaitingCallsLeaveAtTheComputedInstants,
//     TestAWaitBeyondTheCallersDeadlineFailsAtOnceAsDeadlineExceeded,
//     TestRoomGivenBackInAnotherProcessIsUsedAtOnce,
//     TestThoseBehindACallThatLeavesGoAtOnce,
//     TestACancelledWaitCostsNothing, TestThousandsOfCancelsUnderLoadLeaveNothing.
//   - Who waits longer goes first, across the fleet: a waiting call holds back
//     those of its own and lower lanes in every process, on what it lacks, and
//     for a quarter of a second after its turn if its process has died.
//     TestWhoWaitsLongerGoesFirstAcrossTheFleet,
//     TestCallsOfThreeProcessesGoInTheOrderInWhichTheyCame,
//     TestABigCallIsNotStarvedByOtherProcessesSmallOnes,
//     TestAHigherLanesTicketHoldsBackLowerOnesAndNeverTheReverse,
//     TestADeadProcessHoldsUpOthersForAQuarterOfASecondAfterItsTurn,
//     TestAllTicketsOfADeadProcessAreVoidTogether,
//     TestALateProcessThatLivesKeepsItsPlace,
//     TestTicketsOfEveryLaneAreRenewedWithEachClaim,
//     TestWaitingInOneBudgetHoldsBackAnotherOnTheAccountsLimitOnly,
//     TestACancelledWaitWithdrawsItsTicketAndOthersUseTheRoom,
//     TestAWaitThatIsCancelledWhileItsClaimIsUnderWayLeavesNothing,
//     TestWaitsThatEndBeforeTheirTurnLeaveNoTicket.
//   - A call is settled once, in the window that was charged, whatever has
//     become of its context. TestARefundGoesToTheWindowThatWasCharged,
//     TestSettlementCorrectsTheChargeOnce,
//     TestASettlementTravelsWithTheNextClaimOrAloneAfterTwentyMilliseconds.
//   - A pause only grows, outlives the process that was told, reaches every
//     process, and is followed by a ramp. TestTheLaterEndOfTwoPausesWins,
//     TestALateSuccessLiftsNoPause, TestAPauseReachesEveryProcess,
//     TestAPauseOutlivesTheProcessThatWasTold,
//     TestWaitersComeBackByTheRampAndTheBudget. An operator may end it:
//     TestAnOperatorsPauseAndResumeHoldForTheFleet,
//     TestResumeWakesWaitingCallsOfEveryProcessByTheRamp,
//     TestAClaimUnderWayDoesNotUndoAResumption.
//   - A refused key is probed by one call per interval of the whole fleet,
//     whatever becomes of that call.
//     TestARevokedKeyGetsOneProbePerIntervalFromTheWholeFleet,
//     TestEveryOutcomeOfAProbeLeadsToANextOneOrAnOpenKey,
//     TestAnAnswerOfAnOlderGenerationNeitherOpensNorRefuses.
//   - Redis trouble costs a call at most [RedisOptions].Timeout and a fifth of it,
//     and only calls that arrive in its first moments.
//     TestAHungRedisCostsItsFirstCallersTheTimeoutAndLaterOnesNothing,
//     TestModesOfAnOutage, TestOutagesAreLoggedOnceAtStartAndEnd,
//     TestADistantRedisIsNoOutage, TestAnOutageLastsUntilWritesWork,
//     TestARecordThatCannotBeReadHurtsNobodyElse. A fleet whose Redis hangs or
//     comes and goes spends no more than its budget:
//     TestNoFleetOverspendsWhileRedisComesAndGoes,
//     TestWhoComesBackFirstWaitsForTheOthers,
//     TestSpendingOfALongOutageIsNotAllOfNow, TestAnOutageIsThatOfOneShard.
//   - A claim charges once, however often it arrives, and a claim without an
//     answer charges in the end what was really spent.
//     TestAClaimWithoutAnAnswerChargesWhatWasReallySpent,
//     TestLostClaimsAndAnswersNeverChangeTheSum,
//     TestACutReplyIsAskedForAgainAndChargesOnce,
//     TestALostReplyIsCorrectedByWhatWasReallySpent.
//   - Units leased ahead are use like any other: of every limit, in a lane, and
//     fewer as the budget runs low; they are spent only in their time, and
//     never past a pause, nor past a time in which one may have been missed.
//     TestASteadyCallerMakesOneRoundTripForTenCallsAndNeverWaitsForIt,
//     TestLeasesCountAsUseAndAllOfTheBudgetIsUsable,
//     TestNobodyIsRefusedWhereItsOwnChunkHasRoom,
//     TestALeaseBelongsToItsLaneAndHigherOnesMaySpendIt,
//     TestALeaseHoldsEveryLimitAtTheMeanCost,
//     TestNoLeaseWhileAnybodyWaitsInItsOwnOrAHigherLane,
//     TestAutoFollowsTheDemandWithinAHundredthOfEveryAmount,
//     TestAPauseEndsTheLeasesOfEveryProcessAtOnce,
//     TestADeadSubscriptionEndsLeases, TestALeaseIsTrustedFromTheBeginningOfItsClaim,
//     TestSettlementsGoIntoTheChunkAndAfterItsEndToTheWindowCharged,
//     TestProcessesKilledWithALeaseCostTheFleetTheirChunksForAWindow,
//     TestLeasesNeverChangeTheSum, TestProcessesWithLeasesUseExactlyTheBudget.
//   - A store that has lost its memory is told what its processes know.
//     TestOneProcessGoesOnWithTheRestOfTheBudgetAfterALoss,
//     TestAFleetExceedsItsBudgetByWhatSomeDidNotKnow,
//     TestWhatAProcessKnowsHoldsForTheFleetAfterARestart,
//     TestWhatOneProcessKnowsIsToldWhenAnotherFindsTheLoss,
//     TestGenerationsGoOnOverALoss, TestARefusedKeyThatWasLostIsProbedOnce,
//     TestTheAnswerOfAProbeCountsOverALoss, TestNothingIsSaidTwiceToAStoreThatForgot.
//   - Every key in Redis expires, in the step that writes it.
//     TestAnAdmittedCallIsOneCommand and, after each conformance test, a look at
//     all keys.
//
// # Dry run
//
// Config.DryRun, or Budget.DryRun for one budget, shows what the limits would do
// before they do it. Each call is decided as always, as one that may not wait.
// What has room is charged as always. What enforcement would have denied or
// delayed goes at once, with a [Permit] that holds nothing: it isn't counted,
// now or when it is settled, so that what is used is what enforcement would have
// let through. Of calls that enforcement would have delayed none is counted
// later, either.
//
// Each such call is one [Event] with DryRun set, is counted by reason in the
// budget's [BudgetStatus], and the first of a budget and a reason is logged; a
// line about the next follows no sooner than the limit's window, the pause or the
// refusal has passed, and a minute at least. By reason:
//
//   - ErrBudget: no room, or calls in flight until a limit is learned. The call
//     takes no slot of a limit on calls in flight, and leaves no ticket.
//   - ErrPaused: the answer may make the pause longer, which enforcement would
//     not have seen.
//   - ErrKeyRefused, ErrCreditExhausted: as with enforcement, one call per
//     interval is the probe, of the whole fleet, and its answer alone opens the
//     key. It is a caller's own call, with Config.DryRun also where Probe.Send is
//     set: a dry run sends nothing that wasn't to be sent anyway.
//   - ErrModelDenied, ErrTooLarge: the call goes.
//   - ErrStore: a closed outage mode lets calls go. The others decide as always.
//   - ErrQueueFull doesn't occur: nobody waits.
//   - ErrClosed and ErrInvalidCall stay errors: they are no decision about a
//     budget. So does a context that has ended.
//
// What is left by a vendor's own word raises no count: the vendor counts the calls
// too that enforcement would have kept from it. Pauses, refusals, denied models
// and learned limits are taken from every answer. They hold for the whole fleet:
// for processes and budgets that aren't run dry as well.
// TestADryRunCountsWhatEnforcementWouldAndLetsEverythingGo,
// TestADryRunHoldsNothingBackForAnyReason,
// TestADryRunsAnswersSetPausesAndKeys, TestADryRunProbesWithCallersCallsOnly,
// TestADryRunIsLoggedOncePerWindow, TestTheEndOfADryRunKeepsWhatIsUsed.
//
// # Choices
//
// Where several readings were possible:
//
//   - What was spent and settled while the store was out of reach is booked with
//     the first claim after it, as of then, and no more than what of it would
//     still count. [EventOutageEnd] says that the store is found again. In a
//     fleet its calls are decided by this process's part for up to 1.5 s more, as
//     long as the outage has lasted at most: until then others may not have booked
//     theirs, and the budgets would look emptier than they are. Verdicts, pauses
//     and settlements go to the store at once. Lanes that were open or closed
//     during the outage don't wait for that.
//   - A token bucket that has been full since a call was charged has forgotten
//     the charge, and takes no refund for it.
//     One that was nearly full since may be given back a little more than it
//     would hold without the charge: at most what flowed in meanwhile.
//   - The level that a token bucket keeps for a lane's share sinks at most as
//     far below its burst as the whole bucket is deep, so that a lane is held
//     back by what was used while the bucket ran empty, and not by all of
//     history.
//   - The probe of a refused key passes limits that have no room, and is charged
//     to them; it doesn't pass a pause.
//   - While the store is out of reach nobody probes: who may can't be agreed on.
//   - Without any limit that a call counts towards, the ramp after a pause has
//     no measure, and is not applied.
//   - Methods panic, by name, on a Throttle that New didn't make and without a
//     context: neither can be meant.
//   - A context that has ended before Acquire gets its own error, and not a
//     DeniedError: nothing was decided.
//   - What a store has lost is found by a claim about it, by an outage, when
//     notices come again, and by the next sign of life of any process, of which
//     there is one every five seconds and one when another process starts. A pause
//     that every process obeys without asking is written back then.
//   - A call that waits for a known pause to end asks nobody, and so has no ticket:
//     after a pause the first calls of several processes may go in any order.
//   - A lease is spent by keys of the account whose state came with it or with
//     the lease before, while notices of the store come through.
//   - A lost record is restored to the most that any process knows of it, which is
//     what was used in all when that process last heard: not only its own spend.
//   - How long a call waits for calls in flight to end isn't known: it waits as
//     long as its lane and its caller allow, and RetryAfter is 0.
//   - A pause by Throttle.Pause isn't bounded by pause.Policy.Max. A process whose
//     subscription is dead hears of Throttle.Resume only at the pause's own end.
//   - Processes with different limits, half a fleet with an old configuration
//     say, share the counts: each call is held to its own process's limits. A bucket
//     holds no more than the smallest burst of those who ask, and fills at the
//     rate of the last who did.
//   - Calls that wait until the first limit is learned go in the order in which
//     they came, whatever their lane.
//   - InputTokens include those read from a cache; CachedTokens say how many and
//     change prices only.
package throttle
