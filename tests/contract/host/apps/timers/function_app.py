"""Timers that say when they fire."""

import logging

import azure.functions as func

app = func.FunctionApp()


def _say(name: str, timer: func.TimerRequest) -> None:
    logging.info("%s fired, past due: %s", name, timer.past_due)


@app.timer_trigger(arg_name="timer", schedule="* * * * * *")
def every_second(timer: func.TimerRequest) -> None:
    _say("every_second", timer)


@app.timer_trigger(arg_name="timer", schedule="0 0 0 1 1 *", run_on_startup=True)
async def at_start(timer: func.TimerRequest) -> None:
    _say("at_start", timer)


@app.timer_trigger(arg_name="timer", schedule="0 0 0 1 1 *")
def yearly(timer: func.TimerRequest) -> None:
    _say("yearly", timer)


@app.timer_trigger(arg_name="timer", schedule="%CRON%", use_monitor=False)
def off(timer: func.TimerRequest) -> None:
    _say("off", timer)
