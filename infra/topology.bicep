metadata description = 'The topics and subscriptions, declared once for Azure; shared/contracts/topology.py is the same for the code.'

@export()
type Subscription = {
  name: string

  @description('SQL filter; without one everything passes.')
  filter: string?
}

@export()
type Topic = {
  @description('The settings TOPIC_<setting> and SUBSCRIPTION_<setting> name this topic and the subscription of the service.')
  setting: 'ACCEPTED_FILE' | 'JOB_STATUS' | 'EXTRACTION_RETRY' | 'EXTRACTION_RESULT'

  name: string

  @description('Whether the service sends to it.')
  sends: bool

  @description('The subscription of the service.')
  subscription: Subscription

  @description('The subscription of the Status service, where there is one.')
  statusService: Subscription?
}

@export()
@description('How messages are kept and delivered.')
type Delivery = {
  @minValue(1)
  @maxValue(14)
  timeToLiveDays: int

  @description('How long a repeated message id is dropped.')
  @minValue(1)
  @maxValue(10)
  duplicateDetectionMinutes: int

  @minValue(1)
  @maxValue(5)
  lockMinutes: int

  @minValue(3)
  @maxValue(100)
  maxDeliveryCount: int
}

@export()
var topics Topic[] = [
  {
    setting: 'ACCEPTED_FILE'
    name: 'accepted-file'
    sends: false
    subscription: { name: 'extractor-subscription' }
  }
  {
    setting: 'JOB_STATUS'
    name: 'job-status'
    sends: true
    subscription: {
      name: 'extractor-job-status-subscription'
      filter: 'sys.Label IS NULL OR sys.Label <> \'JobQueued\''
    }
    statusService: { name: 'status-service-subscription' }
  }
  {
    setting: 'EXTRACTION_RETRY'
    name: 'extraction-retry'
    sends: true
    subscription: { name: 'extractor-retry-subscription' }
  }
  {
    setting: 'EXTRACTION_RESULT'
    name: 'extraction-result'
    sends: true
    subscription: { name: 'mapper-result-subscription' }
  }
]
